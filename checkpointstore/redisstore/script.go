package redisstore

// The scripts hold checkpointstore.AllowPut and AllowDelete. Redis runs a script alone, so comparing and writing are one
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

// putScript returns 1, or 0 if what is stored does not give way.
const putScript = stored + `
local key, epoch, seq, owner, body, ttl = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local s = stored(key)
if s and not (s.epoch < epoch or (s.epoch == epoch and s.owner == owner and s.seq <= seq)) then return 0 end
if not s then redis.call('DEL', key) end
redis.call('HSET', key, 'epoch', epoch, 'seq', seq, 'owner', owner, 'body', body)
if ttl > 0 then redis.call('PEXPIRE', key, ttl) else redis.call('PERSIST', key) end
return 1`

// deleteScript returns 1, or 0 if what is stored may not be deleted.
const deleteScript = stored + `
local key, epoch, seq, owner = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local s = stored(key)
if s and not (s.epoch == epoch and s.owner == owner and s.seq <= seq) then return 0 end
redis.call('DEL', key)
return 1`
