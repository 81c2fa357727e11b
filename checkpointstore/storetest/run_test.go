package storetest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
)

const toyTTL = 400 * time.Millisecond

func toySuite(fault string) suite {
	return suite{
		newStore: func(testing.TB) checkpointstore.Store { return newToy(fault) },
		plant:    plant, ttl: toyTTL,
		newTTLStore: func(testing.TB) checkpointstore.Store {
			s := newToy(fault)
			s.ttl = toyTTL

			return s
		},
	}
}

func TestAStoreThatKeepsTheContractPasses(t *testing.T) {
	t.Parallel()
	s := toySuite("")
	Run(t, s.newStore, WithPlant(s.plant), WithTTL(s.ttl, s.newTTLStore),
		WithPeer(func(_ testing.TB, store checkpointstore.Store) checkpointstore.Store { return store }))
}

// Each rule must be able to fail, by a fault that a real store might have.
func TestEveryRuleFindsItsFault(t *testing.T) {
	t.Parallel()
	faults := map[string][]string{
		"NotFound":                    {"not found is a zero checkpoint"},
		"EveryFieldRoundTrips":        {"the reasoning is lost"},
		"ExtraIsNormalized":           {"foreign types are an error"},
		"PutReplaces":                 {"Put merges"},
		"PutAgain":                    {"Put again is refused"},
		"Delete":                      {"delete of nothing is an error", "delete takes all"},
		"NoAliasing":                  {"aliases"},
		"Large":                       {"large ones are cut"},
		"OddRunIDs":                   {"keys fold case", "keys lose slashes", "keys are cut"},
		"InvalidRunIDs":               {"run ids are not validated"},
		"TooLarge":                    {"owners are cut"},
		"EndedContext":                {"the context is ignored"},
		"StalePutIsRefused":           {"any Put is allowed", "numbers are floats", "numbers are signed"},
		"TieOnlyForTheSameOwner":      {"a tie is for everybody"},
		"ZombieDeleteIsRefused":       {"any delete is allowed"},
		"OneClaimerWins":              {"Put in two steps", "a tie is for everybody"},
		"ZombieAndSuccessor":          {"any Put is allowed"},
		"ZombieDeleteAndClaim":        {"DeleteIf in two steps"},
		"ConcurrentRuns":              {"one buffer for all"},
		"AppendAdds":                  {"deltas are lost"},
		"AppendAgain":                 {"a delta is added twice"},
		"AppendWhereItGoesOn":         {"any Append is allowed"},
		"AppendToNothing":             {"a delta is not found"},
		"AppendedIsStored":            {"fences are those of the last Put"},
		"DeltasGoWithTheirCheckpoint": {"deltas outlive their checkpoint"},
		"ZombieAppendAndSuccessor":    {"Append in two steps"},
		"AppendRenews":                {"Append does not renew", "cleaning takes too much"},
		"Garbage":                     {"garbage blocks Put", "the checkpoint of another run is served"},
		"NewerVersion":                {"a newer version is corrupt"},
		"DeleteOlderThan":             {"cleaning takes too much"},
		"TimeToLive":                  {"Put does not renew", "nothing expires"},
	}
	for _, r := range rules() {
		require.NotEmpty(t, faults[r.name], "no fault for the rule %s", r.name)
		for _, fault := range faults[r.name] {
			t.Run(r.name+"/"+fault, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					rec := record(t, r, toySuite(fault))
					assert.True(t, rec.failed, "the rule passes")
					assert.Contains(t, rec.log.String(), r.reason)
				})
			})
		}
	}
}

// threeVerbs hides what a store can do beyond the contract.
type threeVerbs struct{ checkpointstore.Store }

func TestRulesForAbilitiesAreSkippedWithoutThem(t *testing.T) {
	t.Parallel()
	var skipped []string
	for _, r := range rules() {
		rec := record(t, r, suite{newStore: func(testing.TB) checkpointstore.Store { return threeVerbs{newToy("")} }})
		assert.False(t, rec.failed, "%s: %s", r.name, &rec.log)
		if rec.skipped {
			skipped = append(skipped, r.name)
		}
	}
	assert.Equal(t, []string{
		"ZombieDeleteIsRefused", "ZombieDeleteAndClaim", "AppendAdds", "AppendAgain", "AppendWhereItGoesOn", "AppendToNothing", "AppendedIsStored",
		"DeltasGoWithTheirCheckpoint", "ZombieAppendAndSuccessor", "AppendRenews", "Garbage", "NewerVersion", "DeleteOlderThan", "TimeToLive",
	}, skipped)
}

// lost is a store whose writes go nowhere.
type lost struct{ checkpointstore.Store }

func (lost) Put(context.Context, checkpointstore.Checkpoint) error { return nil }

func TestAStoreThatLosesEverythingBreaksEveryRuleOfWriting(t *testing.T) {
	t.Parallel()
	passed := map[string]bool{}
	for _, r := range rules() {
		rec := record(t, r, suite{newStore: func(testing.TB) checkpointstore.Store { return lost{newToy("")} }})
		passed[r.name] = !rec.failed && !rec.skipped
	}
	for name, ok := range passed {
		assert.Equal(t, name == "NotFound", ok, name)
	}
}

// TestWithout: what is left out is a rule, and has a reason.
func TestWithout(t *testing.T) {
	t.Parallel()
	s := toySuite("numbers are floats")
	Without("StalePutIsRefused", "its numbers are floats")(&s)
	require.NoError(t, s.misnamed())
	for _, r := range rules() {
		if r.name != "StalePutIsRefused" {
			continue
		}
		rec := record(t, r, s)
		assert.True(t, rec.skipped)
		assert.False(t, rec.failed)
	}
	Without("StalePutIsRefused", "")(&s)
	require.Error(t, s.misnamed())
	s = toySuite("")
	Without("NoSuchRule", "because")(&s)
	require.Error(t, s.misnamed())
}
