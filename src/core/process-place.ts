// Where a process id names the same process for everyone: on one host, in one boot of its kernel, in one PID namespace. Containers that share
// a volume or a server may share the name of their host, and have pids of their own.
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { once } from './once.ts'

/** The place of this process as one text. On Linux: `HOST BOOT NAMESPACE`; elsewhere the name of the host. */
export const placeOfProcess = once((): string => {
  const host = hostname().replaceAll(' ', '-')
  if (process.platform !== 'linux') return host
  const boot = fromProc(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
  const pids = fromProc(() => readlinkSync('/proc/self/ns/pid'))
  return [host, boot, pids].join(' ')
})

/**
 * What this process can know of one that was started there: `seen`, its pid counts here; `ended`, with its boot; `unseen`, it may run.
 *
 * @param onOneHost all processes are known to be of this host, whatever it was called before.
 */
export function sightOf(place: string, onOneHost: boolean, own = placeOfProcess()): 'seen' | 'ended' | 'unseen' {
  const [host, boot, pids] = place.split(' ')
  const [ownHost, ownBoot, ownPids] = own.split(' ')
  if (!onOneHost && host !== ownHost) return 'unseen'
  if (boot !== ownBoot) return onOneHost ? 'ended' : 'unseen'
  return pids === ownPids ? 'seen' : 'unseen'
}

/** What cannot be read is equal to nothing that can. */
function fromProc(read: () => string): string {
  try {
    return read()
  } catch {
    return 'unknown'
  }
}
