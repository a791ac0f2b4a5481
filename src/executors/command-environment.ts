// The environment of a command: what the engine's own process has, what the task adds, and what a command needs to find
// its way back to its task and to the results it comes after. Bounded, because the kernel refuses to start a program with more.
import type { Task } from '../entities/task.ts'
import { startOfText } from './command-output.ts'
import { markVariables } from './process-mark.ts'

const resultPrefix = 'ERRAND_RESULT_'

/** Longest value of one result, in bytes: Linux takes 128 KiB for `NAME=value`. */
export const longestResult = 96 * 1024
/** All results together, in bytes: arguments and environment must fit into a quarter of the stack, 1 MiB on macOS. */
export const mostResults = 512 * 1024

export interface CommandIdentity {
  taskId: string
  callId: string
  /** Path or URL of the ledger; undefined when the executor was not told. */
  ledger: string | undefined
}

/** @param own the task's additions, which win over the process's variables and lose against the engine's. */
export function commandEnvironment(
  own: Record<string, string>,
  identity: CommandIdentity,
  dependencies: readonly Pick<Task, 'name' | 'result'>[],
): NodeJS.ProcessEnv {
  return {
    ...withoutResults(process.env),
    ...own,
    ERRAND_TASK_ID: identity.taskId,
    ...markVariables(identity.callId, process.env),
    ...(identity.ledger === undefined ? {} : { ERRAND_LEDGER: identity.ledger }),
    ...resultVariables(dependencies),
  }
}

/** An engine that itself runs inside a command must not hand that command's results to its own tasks. */
function withoutResults(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith(resultPrefix)))
}

function resultVariables(dependencies: readonly Pick<Task, 'name' | 'result'>[]): Record<string, string> {
  const variables: Record<string, string> = {}
  let room = mostResults
  for (const { name, result } of dependencies) {
    // The first of a name keeps it: a task that somebody puts before this one later does not take its place.
    if (Object.hasOwn(variables, resultVariable(name))) continue
    const value = startOfText(resultText(result), Math.min(longestResult, room))
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
