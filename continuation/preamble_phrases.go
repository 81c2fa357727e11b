package continuation

// openers are words with which one begins to answer a request.
func openers() []string {
	return []string{
		"sure", "sure thing", "certainly", "of course", "absolutely", "okay", "ok", "alright", "all right", "got it",
		"understood", "no problem", "sorry", "my apologies", "apologies for the interruption",
		"sorry for the interruption", "sorry about that",
		"klar", "natürlich", "sicher", "gerne", "selbstverständlich", "entschuldigung",
		"bien sûr", "d'accord", "certainement", "désolé", "désolée",
		"claro", "por supuesto", "de acuerdo", "perdón", "com certeza", "certo", "desculpe",
		"certamente", "va bene", "scusa", "natuurlijk", "zeker", "prima",
		"конечно", "хорошо", "разумеется", "извините",
		"好的", "好", "当然", "當然", "抱歉", "没问题", "はい", "もちろん", "承知しました", "わかりました", "失礼しました",
		"네", "물론입니다", "알겠습니다", "죄송합니다",
		"بالتأكيد", "بالطبع", "حسنا", "حسناً", "ज़रूर", "जरूर", "बिल्कुल", "ठीक है", "ได้เลย", "แน่นอน",
	}
}

// resumePhrases speak of having stopped and going on.
func resumePhrases() []string {
	return []string{
		"continuing from where I left off", "continuing from where we left off", "continuing where I left off",
		"continuing where we left off", "continuing from where it left off", "continuing from where it stopped",
		"continuing from where I stopped", "continuing exactly where I left off", "continuing from the cutoff",
		"continuing from where the response was cut off", "continuing from where my message was cut off",
		"continuing from exactly where it stops", "picking up where I left off", "picking up where we left off",
		"picking up from where I left off", "resuming from where I left off", "resuming where I left off",
		"I'll continue from where I left off", "I’ll continue from where I left off", "I'll continue where I left off",
		"I will continue from where I left off", "let me continue from where I left off",
		"let me continue where I left off", "let me pick up where I left off",
		"ich mache dort weiter, wo ich aufgehört habe", "ich fahre dort fort, wo ich aufgehört habe",
		"weiter, wo ich aufgehört habe", "je reprends là où je me suis arrêté", "je reprends là où je m'étais arrêté",
		"je continue là où je me suis arrêté", "reprenons là où nous en étions", "continúo donde lo dejé",
		"continuando desde donde lo dejé", "retomo donde lo dejé", "continuando de onde parei", "continuo de onde parei",
		"riprendo da dove ero rimasto", "continuo da dove ero rimasto", "ik ga verder waar ik gebleven was",
		"продолжаю с того места, где остановился", "продолжаю с того места, на котором остановился",
		"продолжаю с места остановки", "接着上文继续", "从上次中断的地方继续", "从中断处继续", "接續上文",
		"中断したところから続けます", "途切れたところから続けます", "끊긴 부분부터 이어서 계속하겠습니다", "중단된 부분부터 계속하겠습니다",
		"أكمل من حيث توقفت", "سأكمل من حيث توقفت", "जहाँ रुका था वहाँ से आगे", "ต่อจากที่ค้างไว้",
	}
}

// restPhrases announce what follows. An answer may do so too.
func restPhrases() []string {
	return []string{
		"continuing", "continuation", "continued", "resuming", "here is the rest", "here's the rest", "here’s the rest",
		"here is the remainder", "here's the remainder", "here’s the remainder", "here is the remaining part",
		"here is the continuation", "here's the continuation", "here’s the continuation", "here is the full answer",
		"here is the complete answer", "here is the full response", "here is the complete response", "let me continue",
		"I'll continue", "I’ll continue", "I will continue",
		"hier geht es weiter", "hier ist der rest", "hier ist die fortsetzung", "ich fahre fort", "ich mache weiter",
		"fortsetzung", "weiter geht's", "weiter geht’s", "voici la suite", "voici le reste", "je continue", "suite",
		"aquí está el resto", "aquí está la continuación", "aquí tienes el resto", "continúo", "continuando", "continuación",
		"aqui está o restante", "aqui está o resto", "aqui está a continuação", "continuação", "ecco il resto",
		"ecco la continuazione", "ecco il seguito", "continuo", "hier is de rest", "hier is het vervolg", "ik ga verder",
		"вот продолжение", "вот остальное", "продолжаю", "продолжение", "продолжаем",
		"继续", "以下是剩余部分", "以下是剩余内容", "以下是后续内容", "以下是续写", "繼續", "以下是剩餘部分",
		"続きです", "続きは以下の通りです", "以下が続きです", "続けます", "이어서 계속하겠습니다", "계속하겠습니다", "나머지는 다음과 같습니다", "이어서",
		"إليك البقية", "إليك التكملة", "أواصل", "आगे जारी है", "यह रहा बाकी हिस्सा", "यहाँ बाकी है", "นี่คือส่วนที่เหลือ",
	}
}

// complements say of what the rest is.
func complements() []string {
	var list []string
	for _, of := range []string{" of the ", " of my ", " of your ", " in the ", " with the "} {
		for _, what := range []string{
			"answer", "response", "reply", "message", "text", "code", "file", "list", "table", "story", "article", "essay",
			"document", "output", "json", "section", "explanation", "function", "script", "poem", "letter", "report", "summary",
		} {
			list = append(list, of+what)
		}
	}

	return append(list, " der Antwort", " des Textes", " de la réponse", " du texte", " de la respuesta", " da resposta",
		" della risposta", " van het antwoord", " ответа", " текста")
}
