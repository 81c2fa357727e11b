package continuation

import "testing"

func TestKindsHaveNamesAndPermanence(t *testing.T) {
	t.Parallel()

	tests := []struct {
		kind      Kind
		name      string
		permanent bool
	}{
		{Unknown, "Unknown", false},
		{Transient, "Transient", false},
		{RateLimited, "RateLimited", false},
		{Overloaded, "Overloaded", false},
		{ContextOverflow, "ContextOverflow", true},
		{InvalidRequest, "InvalidRequest", true},
		{Unauthorized, "Unauthorized", true},
		{ModelNotFound, "ModelNotFound", true},
		{ContentFiltered, "ContentFiltered", true},
		{QuotaExhausted, "QuotaExhausted", true},
		{Kind(99), "Kind(99)", false},
	}

	for _, test := range tests {
		if got := test.kind.String(); got != test.name {
			t.Errorf("String() = %q, want %q", got, test.name)
		}

		if got := (Class{Kind: test.kind}).Permanent(); got != test.permanent {
			t.Errorf("%s: Permanent() = %v", test.name, got)
		}
	}
}
