// The executors of an engine: their names, which of them are agents, and their input schemas. An input is validated by the schema of its
// executor when a task is drafted, and again in the step that updates it.
import type { ZodSafeParseResult, ZodType } from 'zod'
import { ErrandError, nearestName } from '../../core/errors.ts'
import { faithfulImage } from '../../core/json.ts'
import { issuesIn, issueText, safeParse, sentenceOf } from '../../core/parse.ts'
import { messageOf, readableError } from '../../core/stored-error.ts'
import { type AgentTraits, type AnyExecutor, isExecutor } from '../../entities/executor.ts'

/** The executor of tasks that have a goal, and neither an executor nor a role. */
export const agentName = 'agent'

/** Executors that every engine has: agents, and questions to people. */
const builtIn: readonly string[] = [agentName, 'ask']

export interface KnownExecutors {
  executors: ReadonlyMap<string, AnyExecutor>
  /** A producer may name executors that only other processes have. */
  anyExecutor: boolean
}

/**
 * The registered name of an executor.
 * @throws ErrandError UNKNOWN_EXECUTOR with the nearest name.
 */
export function executorName(executor: unknown, context: KnownExecutors): string | null {
  if (executor === undefined) return null
  if (typeof executor !== 'string') {
    for (const [name, known] of context.executors) if (known === executor) return name
    throw new ErrandError(
      'UNKNOWN_EXECUTOR',
      'This executor is not registered with the engine. Give it a name in createEngine({ executors }).',
      { known: [...context.executors.keys()] },
    )
  }
  if (context.executors.has(executor) || context.anyExecutor) return executor
  const known = [...context.executors.keys()]
  const nearest = nearestName(executor, known)
  throw new ErrandError(
    'UNKNOWN_EXECUTOR',
    `There is no executor "${executor}".${nearest ? ` Did you mean "${nearest}"?` : ''} This engine has: ${known.join(', ') || 'none'}.`,
    { executor, nearest, known },
  )
}

/** @throws ErrandError UNKNOWN_EXECUTOR for a limit on an executor that this engine does not have. */
export function requireExecutors(named: readonly string[], known: readonly string[], where: string): void {
  for (const name of named) {
    if (known.includes(name)) continue
    const nearest = nearestName(name, known)
    throw new ErrandError(
      'UNKNOWN_EXECUTOR',
      `${where} names "${name}", which is not an executor of this engine.${nearest ? ` Did you mean "${nearest}"?` : ''}`,
      { executor: name, nearest, known: [...known] },
    )
  }
}

/** The traits of an executor that is an agent; undefined for any other, and for an unknown one. */
export function agentOf(executor: string | null, { executors }: KnownExecutors): AgentTraits | undefined {
  const known = executor === null ? undefined : executors.get(executor)
  return isExecutor(known) ? known.agent : undefined
}

/** Whether an executor runs commands; null for one that this engine does not have. */
export function runsCommands(executor: string, { executors }: KnownExecutors): boolean | null {
  const known = executors.get(executor)
  if (known === undefined) return builtIn.includes(executor) ? false : null
  return isExecutor(known) && known.runsCommands
}

/** True for an agent, and for an executor that this engine does not have. */
export function mayBeAgent(executor: string, context: KnownExecutors): boolean {
  return !context.executors.has(executor) || agentOf(executor, context) !== undefined
}

/**
 * The JSON form of an input, checked by the executor's schema. Defaults of the schema are applied in the run and not stored.
 * @throws ErrandError INVALID_INPUT, also { path } for what JSON cannot carry.
 */
export function checkedInput(executor: string | null, input: unknown, name: string, context: KnownExecutors): unknown {
  const image = faithfulImage(input, `the input of "${name}"`, 'input')
  refuseUnfitInput(executor, input === undefined ? undefined : image, name, context)
  return image
}

/** @throws ErrandError INVALID_INPUT when the executor's schema refuses the input; the input of an unknown executor is not checked. */
export function refuseUnfitInput(executor: string | null, input: unknown, name: string, context: KnownExecutors): void {
  const known = executor === null ? undefined : context.executors.get(executor)
  const schema = isExecutor(known) ? known.input : undefined
  if (schema === undefined) return
  const parsed = parsedBy(schema, input, `The input of "${name}" cannot be checked: the schema of ${executor}`)
  if (parsed.success) return
  const issues = issuesIn(parsed.error)
  throw new ErrandError(
    'INVALID_INPUT',
    `The input of "${name}" does not match the schema of ${executor}: ${sentenceOf(issueText(issues))}`,
    { executor, issues },
  )
}

/** The checks of a schema are user code, and may throw. */
function parsedBy(schema: ZodType, input: unknown, what: string): ZodSafeParseResult<unknown> {
  try {
    return safeParse(schema, input)
  } catch (error) {
    throw new ErrandError('INVALID_INPUT', `${what} threw "${messageOf(error)}".`, {}, readableError(error))
  }
}
