package continuation

import (
	"strings"

	"github.com/eino-carryon/carryon/callbacks"
)

// nameClass classifies the name that a provider gives to an error: OpenAI's codes and types, Anthropic's types, Google's
// statuses, AWS's exceptions, DashScope's and Ark's codes. Case and separators do not matter. A weak name is so general
// that a status tells more.
func nameClass(name string) (c Class, weak, found bool) {
	key := nameKey(name)

	for _, candidate := range []string{key, strings.TrimSuffix(key, "error"), nameKey(head(name))} {
		if c, found = strongName(candidate); found {
			return c, false, true
		}

		if c, found = weakName(candidate); found {
			return c, true, true
		}
	}

	return Class{}, false, false
}

// head returns the part of a dotted name before the dot, such as Throttling of Throttling.RateQuota.
func head(name string) string {
	name, _, _ = strings.Cut(name, ".")

	return name
}

// nameKey reduces a name to its lower case letters and digits. AWS writes namespace#Name:address.
func nameKey(name string) string {
	if _, after, found := strings.Cut(name, "#"); found {
		name = after
	}

	name, _, _ = strings.Cut(name, ":")
	if len(name) > maxName {
		return ""
	}

	key := strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		default:
			return -1
		}
	}, name)

	return strings.TrimSuffix(key, "exception")
}

// maxName is longer than any name; what is longer is text.
const maxName = 80

func strongName(key string) (Class, bool) {
	if strings.HasSuffix(key, "sensitivecontentdetected") {
		return permanent(ContentFiltered), true
	}

	switch key {
	case "ratelimit", "ratelimited", "ratelimitexceeded", "throttling", "throttled", "toomanyrequests",
		"resourceexhausted", "requestbursttoofast", "limitrequests", "limitburstrate":
		return provider(RateLimited, callbacks.CauseRateLimited), true
	case "overloaded", "serveroverloaded", "engineoverloaded", "serviceunavailable", "unavailable", "modelnotready",
		"slowdown", "serverbusy", "modeloverloaded", "capacityexceeded":
		return provider(Overloaded, callbacks.CauseOverloaded), true
	case "timeout", "modeltimeout", "requesttimeout", "requesttimedout", "deadlineexceeded", "gatewaytimeout",
		"internalerrortimeout":
		return provider(Transient, callbacks.CauseTimeout), true
	case "apiconnection":
		return transport(callbacks.CauseConnectionReset), true
	case "internalserver", "internalfailure", "internalservice", "servererror", "internalerror", "internal",
		"modelstreamerror", "modelerror", "badgateway", "aborted", "cancelled", "dataloss":
		return provider(Transient, callbacks.CauseProviderError), true
	}

	return permanentName(key)
}

func permanentName(key string) (Class, bool) {
	switch key {
	case "contextlengthexceeded", "contextwindowexceeded", "modelcontextwindowexceeded", "requesttoolarge",
		"exceedcontextsize", "modelmaxprompttokensexceeded", "maxtokenslimitexceeded":
		return permanent(ContextOverflow), true
	case "insufficientquota", "quotaexceeded", "servicequotaexceeded", "billing", "billinghardlimitreached",
		"insufficientbalance", "insufficientcredits", "arrearage", "accountoverdue", "paymentrequired",
		"allocationquotafreetieronly":
		return permanent(QuotaExhausted), true
	case "authentication", "invalidauthentication", "unauthorized", "unauthenticated", "invalidapikey",
		"incorrectapikey", "permission", "permissiondenied", "accessdenied", "forbidden", "expiredtoken",
		"unrecognizedclient", "invalidsignature", "accountdeactivated":
		return permanent(Unauthorized), true
	case "modelnotfound", "notfound", "resourcenotfound", "deploymentnotfound", "modelnotopen", "modelnotsupported",
		"invalidendpointormodel":
		return permanent(ModelNotFound), true
	case "contentfilter", "contentfiltered", "contentpolicyviolation", "responsibleaipolicyviolation", "refusal",
		"datainspectionfailed", "moderationblocked", "cyberpolicyviolation":
		return permanent(ContentFiltered), true
	case "invalidprompt", "validation", "unsupportedparameter", "unsupportedvalue", "invalidvalue",
		"missingrequiredparameter", "unknownparameter", "stringabovemaxlength", "unprocessableentity":
		return permanent(InvalidRequest), true
	default:
		return Class{}, false
	}
}

func weakName(key string) (Class, bool) {
	switch key {
	case "apierror":
		return provider(Transient, callbacks.CauseProviderError), true
	case "invalidrequest", "badrequest", "invalidargument", "failedprecondition", "outofrange", "unimplemented",
		"invalidparameter", "invalidparametervalue":
		return permanent(InvalidRequest), true
	default:
		return Class{}, false
	}
}
