package redisstore

// The scripts hold checkpointstore.AllowPut, AllowAppend and AllowDelete. Redis runs a script alone, so comparing and writing are one
// step, and one round trip.
//
// Epoch and sequence are texts of 20 digits and are compared as texts: a number in Lua is a float, which keeps 53 bits.
// What is no hash, or has no such texts, is garbage: it gives way.
const stored = `
local function stored(key)
	if redis.call('TYPE', key).ok ~= 'hash' then return nil end
	local f = redis.call('HMGET', key, 'epoch', 'seq', 'owner')
	for i = 1, 2 do
		if not f[i] or #f[i] ~= 20 or string.find(f[i], '%D') then return nil end
	end
	return { epoch = f[1], seq = f[2], owner = f[3] or '' }
end
`

// What a script returns.
const (
	stale    = 0
	done     = 1
	noBase   = 2
	tooLarge = 3
)

// putScript returns done, or stale if what is stored does not give way. A server that is out of memory refuses HSET if that is
// the first write of a script, and not behind a DEL: so what is stored is touched with HSET first.
const putScript = stored + `
local key, epoch, seq, owner, body, ttl = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local s = stored(key)
if s and not (s.epoch < epoch or (s.epoch == epoch and s.owner == owner and s.seq <= seq)) then return 0 end
if s then redis.call('HSET', key, 'seq', seq) end
if redis.call('EXISTS', key) == 1 then redis.call('DEL', key) end
redis.call('HSET', key, 'epoch', epoch, 'seq', seq, 'owner', owner, 'body', body, 'bytes', #body)
if ttl > 0 then redis.call('PEXPIRE', key, ttl) end
return 1`

// appendScript writes the delta, and of what is stored nothing but the sequence, the length of all and the time to live.
const appendScript = stored + `
local key, epoch, seq, owner, after, delta, ttl, max = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6]), tonumber(ARGV[7])
local s = stored(key)
if not s then return 2 end
local ours = s.epoch == epoch and s.owner == owner
if not (ours and (s.seq == after or s.seq == seq)) then
	if s.epoch < epoch or (ours and s.seq < seq) then return 2 end
	return 0
end
local bytes = redis.call('HSTRLEN', key, 'body')
if bytes == 0 then return 2 end
if s.seq == seq then return 1 end
bytes = (tonumber(redis.call('HGET', key, 'bytes')) or bytes) + #delta
if bytes > max then return 3 end
redis.call('HSET', key, 'seq', seq, 'bytes', bytes, '` + deltaField + `' .. seq, delta)
if ttl > 0 then redis.call('PEXPIRE', key, ttl) else redis.call('PERSIST', key) end
return 1`

// deleteScript returns done, or stale if what is stored may not be deleted.
const deleteScript = stored + `
local key, epoch, seq, owner = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local s = stored(key)
if s and not (s.epoch == epoch and s.owner == owner and s.seq <= seq) then return 0 end
redis.call('DEL', key)
return 1`
