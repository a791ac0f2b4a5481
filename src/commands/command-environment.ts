// The environment of a command: variables of the engine's process, variables of the task, and those by which a command
// finds its task and the results of the tasks before it. Bounded, because the kernel refuses to start a program with
// more.
import type { Task } from '../entities/task.ts'
import { startOfText } from './command-output.ts'
import { isOutputFile } from './output-file.ts'
import { markVariables } from './process-mark.ts'
import { isSecretVariable } from './secret-variables.ts'

const resultPrefix = 'ERRAND_RESULT_'
const filePrefix = `${resultPrefix}FILE_`

/** Maximum length of one result, in bytes: Linux accepts 128 KiB for `NAME=value`. */
export const maxResultLength = 96 * 1024
/**
 * Maximum length of all results, in bytes: arguments and environment must fit into a quarter of the stack, 1 MiB on
 * macOS.
 */
export const maxResults = 512 * 1024

export interface CommandIdentity {
  taskId: string
  callId: string
  /** Path or URL of the ledger; undefined when the executor was created without it. */
  ledger: string | undefined
}

export interface EnvironmentParts {
  /** All variables of the engine's process except its secrets; otherwise only `defaultVariables`. */
  inheritEnv: boolean
  /** Variables of the task: they override those of the process and are overridden by those of the engine. */
  own?: Readonly<Record<string, string>>
  identity: CommandIdentity
  dependencies?: ReadonlyArray<Pick<Task, 'name' | 'result'>>
  /** Writes a result that does not fit into its variable into a file, and returns its path. */
  writeResult?: (text: string) => string
}

export function commandEnvironment({
  inheritEnv,
  own = {},
  identity,
  dependencies = [],
  writeResult,
}: EnvironmentParts): NodeJS.ProcessEnv {
  return {
    ...inherited(process.env, inheritEnv),
    ...own,
    ERRAND_TASK_ID: identity.taskId,
    ...markVariables(identity.callId, process.env),
    ...(identity.ledger === undefined ? {} : { ERRAND_LEDGER: identity.ledger }),
    ...resultVariables(dependencies, identity.ledger, writeResult),
  }
}

/** Variables that programs need to find each other and to talk to people, and that hold no secrets; also LC_*. */
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

function resultVariables(
  dependencies: ReadonlyArray<Pick<Task, 'name' | 'result'>>,
  ledger: string | undefined,
  writeResult: EnvironmentParts['writeResult'],
): Record<string, string> {
  const variables: Record<string, string> = {}
  const files: Record<string, string> = {}
  let room = maxResults
  for (const { name, result } of dependencies) {
    // The first task of a name keeps it: a task added before this one later does not replace its result.
    if (Object.hasOwn(variables, resultVariable(name))) continue
    const text = resultText(result)
    const value = startOfText(text, Math.min(maxResultLength, room))
    variables[resultVariable(name)] = value
    const file = outputFileOf(result, ledger) ?? (value === text ? undefined : writeResult?.(text))
    if (file !== undefined) files[fileVariable(name)] = file
    room -= Buffer.byteLength(value)
  }
  // A task may be named like the variable of another's file; a plan with both is refused.
  return { ...files, ...variables }
}

/** The file with the whole output of a command whose result is cut; empty if there is none, so that reading it fails. */
function outputFileOf(result: unknown, ledger: string | undefined): string | undefined {
  const { stdoutFile } = (result ?? {}) as { stdoutFile?: unknown }
  if (stdoutFile === undefined) return undefined
  return typeof stdoutFile === 'string' && isOutputFile(stdoutFile, ledger) ? stdoutFile : ''
}

/** The variable with the path of the whole result of the task of this name, if `resultVariable` holds only a part of it. */
export function fileVariable(name: string): string {
  return filePrefix + resultVariable(name).slice(resultPrefix.length)
}

/** The variable with the result of the task of this name. */
export function resultVariable(name: string): string {
  return resultPrefix + name.replaceAll(/[^A-Za-z0-9_]/g, '_')
}

/** A result as text: a command's output without its trailing newlines, as `$(…)` gives it; JSON for other values. */
function resultText(result: unknown): string {
  if (result === null || result === undefined) return ''
  if (typeof result === 'string') return result
  if (isCommandResult(result)) return withoutTrailingNewlines(result.stdout)
  return JSON.stringify(result)
}

function isCommandResult(result: unknown): result is { stdout: string } {
  return typeof (result as { stdout?: unknown }).stdout === 'string'
}

/** A loop, because a pattern takes quadratic time on many newlines that are not at the end. */
function withoutTrailingNewlines(text: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === '\n') end--
  return text.slice(0, end)
}
