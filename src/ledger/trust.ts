// Whether a ledger that was found, and not named, may be opened: its tasks run as the user who opens it, so a file that came from elsewhere is
// a program of others. It is trusted if this user's errand made it, or if the user said so. The same idea as git's `safe.directory`.
import { spawnSync } from 'node:child_process'
import { constants, existsSync, lstatSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { ErrandError } from '../core/errors.ts'
import type { Environment } from './home.ts'
import { trustIdIn } from './sqlite/trust-id.ts'
import { logNow, placesNow, realOf, recordOf, saveRecord } from './trust-record.ts'

export { recordFolder } from './trust-record.ts'

/** `refused`: even if the user says that they trust it. `asked`: the user is asked first. */
export type Trust =
  | { verdict: 'trusted' }
  | { verdict: 'asked' | 'refused' /** Continues "the ledger is not trusted:". */; why: string }

/** A file or folder that a ledger depends on. */
interface Place {
  path: string
  stat: Stats
}

/** How long another process may take to create the ledger, or to begin its log: until then there is a journal, or a log not yet recorded. */
const settledWithinMs = 1_000
const lookAgainMs = 20

/**
 * Judges a ledger that may not exist yet: its file, the write-ahead log and the journal beside it, before any of them is read. It is trusted
 * if the state folder of this user has its id, which is read from the file last, once the log is known to be one of this user's engines. A
 * recorded ledger is judged again when its file, its folder or their owner has changed.
 *
 * @throws ErrandError INVALID_INPUT for a record that is not one.
 */
export function judgeLedger(path: string, env: Environment): Trust {
  const places = placesOf(path)
  // Windows keeps other users out of a user's folders.
  const uid = process.getuid?.()
  const open = uid === undefined ? undefined : places.find(({ stat }) => (stat.mode & constants.S_IWOTH) !== 0)
  if (open !== undefined) return { verdict: 'refused', why: `all users can write ${open.path}` }
  if (!settles(() => !existsSync(`${realOf(path)}-journal`))) {
    return { verdict: 'refused', why: `${path}-journal would change it when it is opened, and no engine leaves one` }
  }
  const record = recordOf(path, env)
  const isSame = record !== undefined && placesNow(path).join() === record.places.join()
  const others = isSame && record.isConfirmed ? undefined : whoElse(places, uid)
  if (others !== undefined) return { verdict: 'asked', why: others }
  if (!isSame && existsSync(path) && isTracked(path, env)) return { verdict: 'asked', why: 'git tracks it' }
  if (!settles(() => isOwnLog(path, env))) {
    return {
      verdict: 'asked',
      why: `${path}-wal, which SQLite would play into it, was not written by an engine of yours`,
    }
  }
  const id = existsSync(path) ? trustIdIn(path) : 'empty'
  if (id === 'empty') return { verdict: 'trusted' }
  // Read again: another process may have created the ledger meanwhile.
  const known = recordOf(path, env)
  // A damaged file in its place is the ledger that it was: no engine works on it, and it can be restored.
  if (known === undefined || !(id === known.id || (id === 'unreadable' && isSame))) {
    return { verdict: 'asked', why: 'it was not created by an engine of yours' }
  }
  if (!isSame) saveRecord(path, known, env)
  return { verdict: 'trusted' }
}

/** Records that this user trusts a ledger, which gets an id of its own. False if that cannot be recorded. */
export async function trustLedger(path: string, env: Environment): Promise<boolean> {
  return await (await import('./sqlite/open-file.ts')).claimFile(path, env)
}

/** The log is looked at first: an engine records it before it writes to it. */
function isOwnLog(path: string, env: Environment): boolean {
  const log = logNow(path)
  return log === null || log === recordOf(path, env)?.log
}

function settles(isSettled: () => boolean): boolean {
  const sleeping = new Int32Array(new SharedArrayBuffer(4))
  for (let waitedMs = 0; !isSettled(); waitedMs += lookAgainMs) {
    if (waitedMs >= settledWithinMs) return false
    Atomics.wait(sleeping, 0, 0, lookAgainMs)
  }
  return true
}

/** The refusal of a ledger that is not trusted, with what would help. */
export function untrusted(path: string, { verdict, why }: Exclude<Trust, { verdict: 'trusted' }>): ErrandError {
  const remedy =
    verdict === 'refused'
      ? 'Remove that file or that permission ("chmod o-w"), or name the ledger with --ledger or ERRAND_LEDGER.'
      : `Trust it with "errand trust '${path}'" if you know where it comes from, or name it with --ledger.`
  return new ErrandError(
    'LEDGER_UNTRUSTED',
    `The ledger ${path} is not trusted: ${why}, and its tasks would run as you. ${remedy}`,
    { ledger: path },
  )
}

/** Its folder and its files, if they exist. */
function placesOf(path: string): Place[] {
  return [dirname(path), path, `${realOf(path)}-wal`].flatMap((each) => {
    if (!existsSync(each)) return []
    const real = realpathSync(each)
    return [{ path: real, stat: statSync(real) }]
  })
}

/** Why other users may have written it; undefined if none can have. */
function whoElse(places: readonly Place[], uid: number | undefined): string | undefined {
  if (uid === undefined) return undefined
  const foreign = places.find(({ stat }) => stat.uid !== uid && stat.uid !== 0)
  if (foreign !== undefined) return `${foreign.path} belongs to another user`
  const shared = places.find(({ stat }) => (stat.mode & constants.S_IWGRP) !== 0 && !isOwnGroup(stat.gid, uid))
  return shared && `other members of its group can write ${shared.path}`
}

// --- Who else may have written it --------------------------------------------------------------------------------------

/** The group that most systems create for each user: named after the user, primary to no other, without further members. */
function isOwnGroup(gid: number, uid: number): boolean {
  try {
    const entries = (file: string) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .map((line) => line.split(':'))
    const users = entries('/etc/passwd')
    const [name, , , primary] = users.find(([, , id]) => Number(id) === uid) ?? []
    const [groupName, , , members = ''] = entries('/etc/group').find(([, , id]) => Number(id) === gid) ?? []
    if (name === undefined || groupName !== name || Number(primary) !== gid) return false
    const isShared = users.some(([, , id, theirs]) => Number(theirs) === gid && Number(id) !== uid)
    return !isShared && members.split(',').every((member) => member === '' || member === name)
  } catch {
    return false
  }
}

/** The file itself, a link to it, or its folder where that is a link: what git may have put there. */
function isTracked(path: string, env: Environment): boolean {
  const folder = dirname(path)
  const places = new Set([path, realOf(path)])
  if (existsSync(folder) && lstatSync(folder).isSymbolicLink()) places.add(folder)
  return [...places].some((place) => existsSync(dirname(place)) && isTrackedByGit(place, env))
}

function isTrackedByGit(path: string, env: Environment): boolean {
  const kept = Object.entries(env).filter(([name]) => !name.startsWith('GIT_') || name === 'GIT_CEILING_DIRECTORIES')
  // A foreign repository may name programs: one that runs for each look at its files, and one that fetches missing objects
  // (`core.sshCommand`), which no protocol may do here. Reading its index runs nothing else.
  const options = ['--literal-pathspecs', '-c', 'core.fsmonitor=false', '-c', 'safe.directory=*']
  const git = spawnSync('git', [...options, 'ls-files', '--error-unmatch', '--', basename(path)], {
    cwd: dirname(path),
    env: { ...Object.fromEntries(kept), LC_ALL: 'C', GIT_ALLOW_PROTOCOL: '' } as NodeJS.ProcessEnv,
    encoding: 'utf8',
  })
  if (git.error !== undefined) return false // no git: then it has brought nothing
  if (git.status === 0) return true
  // 1: not tracked. Outside of repositories, and in git's own folder, nothing is; other errors of git leave it open.
  return git.status !== 1 && !/not a git repository|must be run in a work tree/.test(git.stderr)
}
