// Whether a ledger that was found, and not named, may be opened: its tasks run as the user who opens it, so a file that another user put
// there is a program of theirs. The same idea as git's `safe.directory`.
import { spawnSync } from 'node:child_process'
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { ErrandError } from '../core/errors.ts'
import { createRandomIds } from '../core/ids.ts'
import { parse } from '../core/parse.ts'
import { sha256 } from '../core/sha256.ts'
import { type Environment, homeOf } from './home.ts'

/** `refused`: even if the user says that they trust it. `asked`: the user is asked first. */
export type Trust =
  | { verdict: 'trusted' }
  | { verdict: 'asked' | 'refused' /** Continues "the ledger is not trusted:". */; why: string }

/** A file or folder that a ledger depends on. */
interface Place {
  path: string
  stat: Stats
}

/**
 * Judges the location of a ledger that may not exist yet. If no other user can write it and git does not track it, it is the user's own,
 * and is listed as trusted when it is first seen. If that list cannot be kept, owners and modes alone decide. A listed ledger is judged
 * again when its file, its folder or their owner has changed.
 *
 * @throws ErrandError INVALID_INPUT for a list that is not one.
 */
export function judgeLedger(path: string, env: Environment): Trust {
  const uid = process.getuid?.()
  // Windows keeps other users out of a user's folders.
  if (uid === undefined) return { verdict: 'trusted' }
  const places = placesOf(path)
  const open = places.find(({ stat }) => (stat.mode & constants.S_IWOTH) !== 0)
  if (open !== undefined) return { verdict: 'refused', why: `all users can write ${open.path}` }
  if (isListed(path, places, env)) return { verdict: 'trusted' }
  const foreign = places.find(({ stat }) => stat.uid !== uid && stat.uid !== 0)
  if (foreign !== undefined) return { verdict: 'asked', why: `${foreign.path} belongs to another user` }
  const shared = places.find(({ stat }) => (stat.mode & constants.S_IWGRP) !== 0 && !isOwnGroup(stat.gid, uid))
  if (shared !== undefined) return { verdict: 'asked', why: `other members of its group can write ${shared.path}` }
  if (isListKept(env) && isTracked(path, env)) return { verdict: 'asked', why: 'git tracks it' }
  if (existsSync(path)) trustLedger(path, env)
  return { verdict: 'trusted' }
}

/** Lists a ledger as trusted by this user. False if the list cannot be written. */
export function trustLedger(path: string, env: Environment): boolean {
  const file = listFile(path, env)
  if (file === undefined || !isListKept(env)) return false
  const fresh = `${file}.${createRandomIds().next('new')}`
  try {
    writeFileSync(fresh, `${JSON.stringify(entryOf(path, placesOf(path)))}\n`, { mode: 0o600, flag: 'wx' })
    renameSync(fresh, file)
    return true
  } catch {
    return false
  }
}

/** The refusal of a ledger that is not trusted, with what would help. */
export function untrusted(path: string, { verdict, why }: Exclude<Trust, { verdict: 'trusted' }>): ErrandError {
  const remedy =
    verdict === 'refused'
      ? 'Remove that permission with "chmod o-w", or name the ledger with --ledger or ERRAND_LEDGER.'
      : `Trust it with "errand trust '${path}'" if you know where it comes from, or name it with --ledger.`
  return new ErrandError(
    'LEDGER_UNTRUSTED',
    `The ledger ${path} is not trusted: ${why}, and its tasks would run as you. ${remedy}`,
    { ledger: path },
  )
}

/** Its folder and its file, if they exist. */
function placesOf(path: string): Place[] {
  return [dirname(path), path].flatMap((each) => {
    if (!existsSync(each)) return []
    const real = realpathSync(each)
    return [{ path: real, stat: statSync(real) }]
  })
}

// --- The list of trusted ledgers: a file for each, so that no two processes write the same one ------------------------

const entrySchema = z.object({ ledger: z.string(), places: z.array(z.string()) })

/** Where the trust in a ledger is recorded (XDG base directories); undefined for a user without a home. */
export function listFile(path: string, env: Environment): string | undefined {
  const folder = listFolder(env)
  const name = sha256(realOf(path)).slice(0, 32)
  return folder === undefined ? undefined : join(folder, `${name}.json`)
}

export function listFolder(env: Environment): string | undefined {
  const home = homeOf(env)
  const state = env['XDG_STATE_HOME'] || (home === undefined ? undefined : join(home, '.local', 'state'))
  return state === undefined ? undefined : join(state, 'errand', 'trusted-ledgers')
}

function realOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}

/** The properties by which a trusted ledger is recognized. */
function entryOf(path: string, places: readonly Place[]): z.output<typeof entrySchema> {
  return { ledger: realOf(path), places: places.map(({ stat }) => `${stat.dev}:${stat.ino}:${stat.uid}`) }
}

function isListed(path: string, places: readonly Place[], env: Environment): boolean {
  const file = listFile(path, env)
  if (file === undefined || !existsSync(file)) return false
  let stored: unknown
  try {
    stored = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    const message = `${file}, which records that a ledger is trusted, cannot be read. Delete it and trust the ledger again.`
    throw new ErrandError('INVALID_INPUT', message, { file }, error)
  }
  const entry = parse(entrySchema, stored, file)
  return JSON.stringify(entry) === JSON.stringify(entryOf(path, places))
}

function isListKept(env: Environment): boolean {
  const folder = listFolder(env)
  if (folder === undefined) return false
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
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
