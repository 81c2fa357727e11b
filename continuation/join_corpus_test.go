package continuation

import "strings"

// joinText is a text of the corpus.
type joinText struct {
	name, text string
}

// joinProse returns prose in many languages: no sentence stands twice.
func joinProse() []joinText {
	return []joinText{
		{"English", "The harbour was quiet that evening. Two boats had come in late, and nobody asked where they had been. In the morning, the market opened as it always did."},
		{"German", "Am Abend war es still im Hafen. Zwei Boote kamen spät zurück, und niemand fragte, wo sie gewesen waren. Übermüdet schliefen die Männer bis in den Vormittag."},
		{"French", "Le port était calme ce soir-là. Deux bateaux étaient rentrés tard ; personne n'a demandé d'où ils venaient. Le lendemain, le marché a ouvert comme d'habitude."},
		{"Spanish", "El puerto estaba tranquilo aquella noche. Dos barcos habían llegado tarde, y nadie preguntó dónde habían estado. ¿Quién abriría el mercado por la mañana?"},
		{"Russian", "Вечером в порту было тихо. Две лодки вернулись поздно, и никто не спросил, где они были. Утром рынок открылся, как и всегда."},
		{"Chinese", "那天晚上港口很安静。两条船很晚才回来，没有人问它们去了哪里。第二天早上，市场像往常一样开门，人们买鱼、买冰、打听消息。"},
		{"Japanese", "その夜、港は静かだった。二隻の船が遅く戻ってきたが、どこにいたのかと尋ねる者はいなかった。翌朝、市場はいつものように開いた。"},
		{"Korean", "그날 저녁 항구는 조용했다. 배 두 척이 늦게 돌아왔지만 어디에 있었는지 묻는 사람은 없었다. 다음 날 아침 시장은 평소처럼 문을 열었다."},
		{"Arabic", "كان الميناء هادئا في ذلك المساء. عاد قاربان متأخرين، ولم يسأل أحد أين كانا. في الصباح فتح السوق أبوابه كالعادة."},
		{"Hindi", "उस शाम बंदरगाह शांत था। दो नावें देर से लौटीं, और किसी ने नहीं पूछा कि वे कहाँ थीं। सुबह बाज़ार हमेशा की तरह खुला।"},
		{"Thai", "เย็นวันนั้นท่าเรือเงียบสงบ เรือสองลำกลับมาช้า และไม่มีใครถามว่าไปไหนมา เช้าวันรุ่งขึ้นตลาดเปิดเหมือนทุกวัน"},
		{"Turkish", "O akşam liman sessizdi. İki tekne geç döndü ve kimse nerede olduklarını sormadı. Sabahleyin pazar her zamanki gibi açıldı."},
		{"Hebrew", "באותו ערב היה הנמל שקט. שתי סירות חזרו מאוחר, ואיש לא שאל היכן היו. בבוקר נפתח השוק כרגיל."},
		{"emoji", "We sailed 👩‍👩‍👧‍👦 under two flags 🇩🇪🇯🇵 with a thumb 👍🏽 up. Nobody minded ☀️ the heat 🎉🎉, they said 🏴󠁧󠁢󠁳󠁣󠁴󠁿 it was fine."},
		{"combining marks", "Le cafe\u0301 e\u0301tait ferme\u0301, mais la the\u0301ie\u0300re fumait. Za\u0306rile sunt \u0219terse; n\u0303andu\u0301 vola\u0302nt."},
	}
}

// joinStructured returns texts with a structure of their own.
func joinStructured() []joinText {
	return []joinText{
		{"Go", "package main\n\nimport \"fmt\"\n\nfunc sum(values []int) int {\n\ttotal := 0\n\tfor _, v := range values {\n\t\ttotal += v\n\t}\n\n\treturn total\n}\n\nfunc main() {\n\tfmt.Println(sum([]int{1, 2, 3}))\n}\n"},
		{"Python", "def read(path):\n    with open(path) as f:\n        for line in f:\n            if not line.strip():\n                continue\n            yield line\n\n\nfor row in read('in.txt'):\n    print(row)\n"},
		{"table", "Prices of the week:\n\n| name | price | unit |\n|------|-------|------|\n| tea  | 3     | box  |\n| milk | 2     | l    |\n| corn | 3     | kg   |\n\nAll prices without tax.\n"},
		{"list", "Steps to take:\n\n1. Install the program on the server.\n2. Configure the port in the settings file.\n   - open the file\n   - set the port\n3. Restart the service and look at the log.\n\nThen you are done.\n"},
		{"bullets", "What we need:\n\n- a boat with two sails\n- ropes, nets and boxes\n- bread for three days\n* and good weather, of course\n"},
		{"headings", "# Guide\n\nA short text.\n\n## Installing the program\n\nRun the installer.\n\n## Configuring the program\n\nOpen the file and set the port.\n"},
		{"JSON", `{"items":[{"id":1,"name":"first","tags":["a","b"]},{"id":2,"name":"second","tags":[]}],"total":2,"next":null,"ok":true,"rate":-1.5e3,"note":"a \"quoted\" {brace} é"}`},
		{"pretty JSON", "{\n  \"user\": {\n    \"name\": \"Ada\",\n    \"langs\": [\n      \"en\",\n      \"fr\"\n    ]\n  },\n  \"count\": 12\n}\n"},
		{"JSON tree", `{"type":"node","value":1,"children":[{"type":"node","value":2,"children":[{"type":"node","value":3,"children":[]}]},{"type":"node","value":4,"children":[]}]}`},
		{"JSON of JSON", `[[1,2,3],[4,5,6],[7,8,9],["x",["y",["z"]]]]`},
		{"fenced JSON", "Here is the configuration that you asked for:\n\n```json\n{\n  \"port\": 8080,\n  \"hosts\": [\"a.example.com\", \"b.example.com\"]\n}\n```\n\nSave it and restart.\n"},
		{"fenced code", "First the code:\n\n```go\nfunc add(a, b int) int {\n\treturn a + b\n}\n```\n\nThen a test:\n\n```go\nfunc TestAdd(t *testing.T) {\n\tif add(1, 2) != 3 {\n\t\tt.Fatal(\"wrong\")\n\t}\n}\n```\n"},
		{"Markdown in Markdown", "````markdown\n# Title\n\n```json\n{\"a\": 1}\n```\n\nMore text.\n````\n"},
		{"numbers", "Pi is 3.14159265358979, e is 2.71828182845904, and 1111 is only ones."},
		{"dialogue", "Bob: Can you send me the rest?\nAlice: Sure, here is the rest: three boxes.\nBob: Continuing: what about the nets?\nAlice: OK, I'll continue with these.\n"},
		{"quotes", "“Sure, continuing:” she said, and read on. “Here is the rest: nothing.” He nodded. Here is the rest: two words.\n"},
		{"INI", "[server]\nport = 8080\n\n[client]\nname = \"x\"\n"},
		{"template", "{{name}} said {count} times: [link](https://example.com/a) and [1, 2].\n"},
	}
}

// joinRepeating returns texts that repeat by design.
func joinRepeating() []joinText {
	return []joinText{
		{"laughter", strings.Repeat("ha ", 14)},
		{"Chinese laughter", strings.Repeat("哈", 20) + "，" + strings.Repeat("嘻嘻", 6) + "。"},
		{"equal rows", "| a | b |\n|---|---|\n" + strings.Repeat("| alpha | beta |\n", 6)},
		{"equal sentences", strings.Repeat("All work and no play makes Jack a dull boy. ", 5)},
		{"closing braces", "if a {\n\tif b {\n\t\tif c {\n\t\t\tf()\n\t\t}\n\t}\n}\n})\n\t})\n})\n})\n"},
		{"error handling", "\ta, err := f()\n\tif err != nil {\n\t\treturn err\n\t}\n\tb, err := g()\n\tif err != nil {\n\t\treturn err\n\t}\n\tif err != nil {\n\t\treturn err\n\t}\n\treturn nil\n"},
		{"a check made twice", "\ta, err := f()\n\tif err != nil {\n\t\treturn err\n\t}\n\tif err != nil {\n\t\treturn err\n\t}\n\treturn nil\n"},
		{"verse", "The tide comes in, the tide goes out,\nand nobody knows why.\n\nThe fisher sings, the children shout,\nthe gulls are in the sky.\n\nThe tide comes in, the tide goes out,\nand nobody knows why.\n"},
		{"verse said twice", strings.Repeat("Row, row, row your boat,\ngently down the stream.\n", 2)},
		{"two tables", "Summer:\n\n| name | price |\n|------|-------|\n| tea  | 3     |\n\nWinter:\n\n| name | price |\n|------|-------|\n| tea  | 4     |\n"},
		{"two lists", "First day:\n\n1. Open the shop at nine.\n2. Close it at five.\n\nSecond day:\n\n1. Open the shop at nine.\n2. Close it at noon.\n"},
		{"equal headings", "## One\n\n### Example of use\n\nA text.\n\n## Two\n\n### Example of use\n\nAnother text.\n"},
		{"refrain in prose", "We shall not give up this harbour. They took the boats. We shall not give up this harbour. They took the nets. We shall not give up this harbour."},
		{"equal objects", `[{"id":1,"v":0},{"id":1,"v":0},{"id":1,"v":0},{"id":1,"v":0}]`},
		{"equal strings", `{"words":["the very same","the very same","the very same"],"words2":["the very same"]}`},
		{"equal chars", strings.Repeat("=", 40) + "\n" + strings.Repeat("-", 40) + "\n"},
		{"Chinese doubling", "高高兴兴地走，一步一步地走，走啊走啊走。我知道了我知道了，谢谢谢谢。"},
		{"round of digits", strings.Repeat("0123456789 ", 8)},
		{"na na na", strings.Repeat("na ", 8) + "Batman!"},
	}
}

// joinExtending returns texts in which a line, or some words, begin as the ones before and go on.
func joinExtending() []joinText {
	return []joinText{
		{"routes", "Routes:\n\nGET /v1/boats\nGET /v1/harbours\nGET /v1/harbours/{id}\nPOST /v1/harbours\n"},
		{"routes alone", "GET /v1/harbours/boats\nGET /v1/harbours/boats/{id}\nPOST /v1/harbours\n"},
		{"addresses", "See these:\nhttps://example.com/a\nhttps://example.com/b/items\nhttps://example.com/b/items/1\n"},
		{"file tree", "Files:\n\n- src\n- src/harbour\n- src/harbour/boats\n- src/harbour/boats/nets\n- docs\n"},
		{"constants", "const (\n\tBoatAway\n\tBoatInHarbour\n\tBoatInHarbourForRepair\n\tBoatGone\n)\n"},
		{"imports", "import (\n\t\"fmt\"\n\t\"net/http\"\n\t\"net/http/httptest\"\n\t\"example.com/boats/internal\"\n\t\"example.com/boats/internal/nets\"\n)\n"},
		{"commands", "```sh\ngo vet ./...\ngo build ./cmd/harbour\ngo build ./cmd/harbour-admin\n```\n"},
		{"YAML", "services:\n  - name: harbour\n    image: boats\n  - name: harbour-cache\n    image: boats\n"},
		{"headings", "Steps:\n\n1. Start.\n\n## Configuration\n## Configuration of the harbour\n"},
		{"numbered", "1. Open the file\n2. Open the settings\n3. Open the settings again\n"},
		{"verse that grows", "I met a man.\nI saw the sea today\nI saw the sea today and cried.\n"},
		{"links", "Links:\n\nSee [Installing](#installing)\nSee [Installing](#installing-on-boats)\nEnd.\n"},
		{"Chinese list", "清单：\n港口管理办公室\n港口管理办公室分室\n码头\n"},
		{"SQL", "SELECT a.harbour_id\n     , a.harbour_id_type\nFROM t\n"},
		{"drawing", "# The net:\n#\n#        /-----------\\\n#       |             |\n#       |             |\n#       V             |\n# boat -> net -> fish\n"},
	}
}

func joinCorpus() []joinText {
	return append(append(append(joinProse(), joinStructured()...), joinRepeating()...), joinExtending()...)
}
