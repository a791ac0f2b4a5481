// Whether a ledger that was found, and not named, may be opened: what stands in it is worked on as the user who opens it, so a file
// that somebody else has put there is a program of theirs. The same idea as git's `safe.directory`.
import { execFileSync } from 'node:child_process'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { ErrandError } from '../errors.ts'
import { parse } from '../parse.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** `refused`: not even by somebody who says that they trust it. `asked`: whoever opens it is asked first. */
export type Trust =
  | { verdict: 'trusted' }
  | { verdict: 'asked' | 'refused' /** Continues "the ledger was found, and". */; why: string }

/**
 * Judges a ledger that is there. One that is seen for the first time, that nobody else can write, and that git has not brought is
 * the user's own, and is listed as trusted. Where that list cannot be kept, owners and modes alone decide.
 *
 * @throws ErrandError INVALID_INPUT for a list that is none.
 */
export function judgeLedger(path: string, env: Environment): Trust {
  const uid = process.getuid?.()
  // Windows keeps other users out of a user's folders by itself.
  if (uid === undefined) return { verdict: 'trusted' }
  const ledger = realpathSync(path)
  const places = [dirname(ledger), ledger].map((place) => ({ place, stat: statSync(place) }))
  const open = places.find(({ stat }) => (stat.mode & constants.S_IWOTH) !== 0)
  if (open !== undefined) return { verdict: 'refused', why: `everybody may write ${open.place}` }
  if (trustedLedgers(env).includes(ledger)) return { verdict: 'trusted' }
  const foreign = places.find(({ stat }) => stat.uid !== uid && stat.uid !== 0)
  if (foreign !== undefined) return { verdict: 'asked', why: `${foreign.place} belongs to another user` }
  const shared = places.find(({ stat }) => (stat.mode & constants.S_IWGRP) !== 0 && hasOthers(stat, uid))
  if (shared !== undefined) return { verdict: 'asked', why: `other members of its group may write ${shared.place}` }
  if (isListKept(env) && isTracked(ledger, env)) return { verdict: 'asked', why: 'git has brought it' }
  trustLedger(ledger, env)
  return { verdict: 'trusted' }
}

/** Lists a ledger as trusted by this user. False where the list cannot be written. */
export function trustLedger(path: string, env: Environment): boolean {
  const ledger = realpathSync(path)
  const ledgers = trustedLedgers(env)
  if (ledgers.includes(ledger)) return true
  if (!isListKept(env)) return false
  const file = listFile(env)
  const fresh = `${file}.${process.pid}`
  writeFileSync(fresh, `${JSON.stringify([...ledgers.filter((each) => existsSync(each)), ledger], null, 2)}\n`, {
    mode: 0o600,
  })
  renameSync(fresh, file)
  return true
}

/** The refusal of a ledger that is not trusted, with what would help. */
export function untrusted(path: string, { verdict, why }: Exclude<Trust, { verdict: 'trusted' }>): ErrandError {
  const remedy =
    verdict === 'refused'
      ? 'Take that right away with "chmod o-w", or name the ledger with --ledger.'
      : `Trust it with "errand trust ${path}" if you know where it comes from, or name it with --ledger.`
  return new ErrandError(
    'LEDGER_UNTRUSTED',
    `The ledger ${path} was found, and ${why}: its tasks would run as ${userInfo().username}. ${remedy}`,
    { ledger: path },
  )
}

/** Where it is kept which ledgers the user trusts (XDG base directories). */
export function listFile(env: Environment): string {
  const state = env['XDG_STATE_HOME'] || join(env['HOME'] || homedir(), '.local', 'state')
  return join(state, 'errand', 'trusted-ledgers.json')
}

function trustedLedgers(env: Environment): string[] {
  const file = listFile(env)
  if (!existsSync(file)) return []
  let stored: unknown
  try {
    stored = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new ErrandError(
      'INVALID_INPUT',
      `The list of trusted ledgers ${file} cannot be read. Delete it: ledgers of others are asked about again.`,
      { file },
      error,
    )
  }
  return parse(z.array(z.string()), stored, `the list of trusted ledgers ${file}`)
}

function isListKept(env: Environment): boolean {
  const folder = dirname(listFile(env))
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** A group of the user's own, as most systems make them, has no other members. */
function hasOthers({ gid }: Stats, uid: number): boolean {
  try {
    const entries = (file: string) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .map((line) => line.split(':'))
    const users = entries('/etc/passwd')
    const name = users.find(([, , id]) => Number(id) === uid)?.[0]
    const members = entries('/etc/group').find(([, , id]) => Number(id) === gid)?.[3] ?? ''
    const isPrimary = users.some(([, , id, primary]) => Number(primary) === gid && Number(id) !== uid)
    return isPrimary || members.split(',').some((member) => member !== '' && member !== name)
  } catch {
    return true
  }
}

function isTracked(ledger: string, env: Environment): boolean {
  try {
    // A repository that is not ours may name a program to be run for each look at its files.
    const command = ['-c', 'core.fsmonitor=false', 'ls-files', '--error-unmatch', '--', basename(ledger)]
    execFileSync('git', command, { cwd: dirname(ledger), env: { ...env } as NodeJS.ProcessEnv, stdio: 'ignore' })
    return true
  } catch {
    return false // not tracked, no repository, or no git: then nothing came with it
  }
}
