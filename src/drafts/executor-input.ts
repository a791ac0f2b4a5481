// The input of a task, judged by the schema of its executor: where a task is drafted, and again inside the step that updates it.
import type { ZodSafeParseResult, ZodType } from 'zod'
import { ErrandError } from '../errors.ts'
import { isExecutor } from '../executor.ts'
import { fromJson, toJson } from '../json.ts'
import { issuesIn, issueWords } from '../parse.ts'
import { messageOf, readableError } from '../stored-error.ts'
import type { KnownExecutors } from './known-executors.ts'

/** The JSON image of an input; with a schema at hand it is checked, and stored as it was given: defaults belong to the run. */
export function checkedInput(executor: string | null, input: unknown, name: string, context: KnownExecutors): unknown {
  const image = fromJson(toJson(input, `the input of "${name}"`))
  refuseUnfitInput(executor, input === undefined ? undefined : image, name, context)
  return image
}

/** @throws ErrandError INVALID_INPUT for what the executor's schema refuses; an executor that is not known here takes anything. */
export function refuseUnfitInput(executor: string | null, input: unknown, name: string, context: KnownExecutors): void {
  const known = executor === null ? undefined : context.executors.get(executor)
  const schema = isExecutor(known) ? known.input : undefined
  if (schema === undefined) return
  const parsed = parsedBy(schema, input, `The input of "${name}" cannot be checked: the schema of ${executor}`)
  if (parsed.success) return
  const issues = issuesIn(parsed.error)
  throw new ErrandError(
    'INVALID_INPUT',
    `The input of "${name}" is not what ${executor} takes: ${issueWords(issues)}.`,
    { executor, issues },
  )
}

/** The checks of a schema are user code, and may throw. */
function parsedBy(schema: ZodType, input: unknown, what: string): ZodSafeParseResult<unknown> {
  try {
    return schema.safeParse(input)
  } catch (error) {
    throw new ErrandError('INVALID_INPUT', `${what} threw "${messageOf(error)}".`, {}, readableError(error))
  }
}
