// The environment of a command: what it may have of that of the engine's process, what the task adds, and what a command needs to
// find its way back to its task and to the results it comes after. Bounded, because the kernel refuses to start a program with more.
import type { Task } from '../entities/task.ts'
import { startOfText } from './command-output.ts'
import { markVariables } from './process-mark.ts'
import { isSecretVariable } from './secret-variables.ts'

const resultPrefix = 'ERRAND_RESULT_'

/** Longest value of one result, in bytes: Linux takes 128 KiB for `NAME=value`. */
export const maxResultLength = 96 * 1024
/** All results together, in bytes: arguments and environment must fit into a quarter of the stack, 1 MiB on macOS. */
export const maxResults = 512 * 1024

export interface CommandIdentity {
  taskId: string
  callId: string
  /** Path or URL of the ledger; undefined when the executor was not told. */
  ledger: string | undefined
}

export interface EnvironmentParts {
  /** All variables of the engine's process but its secrets; else the usual ones alone. */
  inheritEnv: boolean
  /** The task's additions, which win over the process's variables and lose against the engine's. */
  own?: Readonly<Record<string, string>>
  identity: CommandIdentity
  dependencies?: ReadonlyArray<Pick<Task, 'name' | 'result'>>
}

export function commandEnvironment({
  inheritEnv,
  own = {},
  identity,
  dependencies = [],
}: EnvironmentParts): NodeJS.ProcessEnv {
  return {
    ...inherited(process.env, inheritEnv),
    ...own,
    ERRAND_TASK_ID: identity.taskId,
    ...markVariables(identity.callId, process.env),
    ...(identity.ledger === undefined ? {} : { ERRAND_LEDGER: identity.ledger }),
    ...resultVariables(dependencies),
  }
}

/** What programs need to find each other and to talk to people, and what holds no secrets. LC_* belongs to it. */
const defaultVariables: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'TERM',
  'TMPDIR',
  'TZ',
])

function inherited(environment: NodeJS.ProcessEnv, inheritEnv: boolean): NodeJS.ProcessEnv {
  const isInherited = inheritEnv
    ? // An engine that itself runs inside a command must not hand that command's results to its own tasks.
      (name: string) => !name.startsWith(resultPrefix) && !isSecretVariable(name, environment)
    : (name: string) => defaultVariables.has(name) || name.startsWith('LC_')
  return Object.fromEntries(Object.entries(environment).filter(([name]) => isInherited(name)))
}

function resultVariables(dependencies: ReadonlyArray<Pick<Task, 'name' | 'result'>>): Record<string, string> {
  const variables: Record<string, string> = {}
  let room = maxResults
  for (const { name, result } of dependencies) {
    // The first of a name keeps it: a task that somebody puts before this one later does not take its place.
    if (Object.hasOwn(variables, resultVariable(name))) continue
    const value = startOfText(resultText(result), Math.min(maxResultLength, room))
    variables[resultVariable(name)] = value
    room -= Buffer.byteLength(value)
  }
  return variables
}

/** The variable with the result of the task of this name. */
export function resultVariable(name: string): string {
  return resultPrefix + name.replaceAll(/[^A-Za-z0-9_]/g, '_')
}

/** A result as a shell likes it: what a command printed without its trailing newlines, as `$(…)` gives it; else plain text. */
function resultText(result: unknown): string {
  if (result === null || result === undefined) return ''
  if (typeof result === 'string') return result
  if (isCommandResult(result)) return withoutTrailingNewlines(result.stdout)
  return JSON.stringify(result)
}

function isCommandResult(result: unknown): result is { stdout: string } {
  return typeof (result as { stdout?: unknown }).stdout === 'string'
}

/** A loop, because `/\n+$/` takes quadratic time on many newlines that are not the end. */
function withoutTrailingNewlines(text: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === '\n') end--
  return text.slice(0, end)
}
