// `meta.ask` of a state: the question that a task asks while its machine is in the state, and the event that carries the answer.
import type { AnyStateNode } from 'xstate'
import { z } from 'zod'
import { abilitySchemaSchema, schemaPair } from '../bus/json-schema.ts'
import { ErrandError } from '../core/errors.ts'
import { issuesIn, issueText, safeParse } from '../core/parse.ts'
import { audiences } from '../entities/question.ts'
import { statesIn } from './definition-parts.ts'
import { type Finding, placeIn, placeOfState } from './finding.ts'

export const askMetaSchema = z.strictObject({
  question: z.union([
    z.string().min(1),
    z.custom<(given: { context: never }) => string>(
      (value) => typeof value === 'function',
      'expected a text, or a function of { context }',
    ),
  ]),
  /** Absent: every answer is valid. */
  schema: abilitySchemaSchema.optional(),
  event: z.string().min(1),
  /** Who may answer. */
  for: z.enum(audiences).default('person'),
})

export type AskMeta = z.output<typeof askMetaSchema>
/** What a state may have as `meta.ask`. */
export type MachineAsk = z.input<typeof askMetaSchema>

/** The questions of states that are not written as they must be, or whose answer no state takes. */
export function findingsInQuestions(machine: AnyStateNode['machine'], within: string): Finding[] {
  return statesIn(machine).flatMap((node) => {
    const problem = problemOf(node)
    return problem === undefined
      ? []
      : [{ severity: 'error' as const, place: placeIn(placeOfState(within, node), 'meta.ask'), ...problem }]
  })
}

const shape =
  "Write { question: '…', event: 'EVENT' }, with a schema of zod 4 or a JSON Schema as `schema` where not every answer is valid."

function problemOf(node: AnyStateNode): Pick<Finding, 'problem' | 'remedy'> | undefined {
  const ask = (node.meta as { ask?: unknown } | null | undefined)?.ask
  if (ask === undefined) return undefined
  const parsed = safeParse(askMetaSchema, ask)
  if (!parsed.success) {
    return { problem: `The question is not valid: ${issueText(issuesIn(parsed.error))}.`, remedy: shape }
  }
  const { event, schema } = parsed.data
  const unusable = schema === undefined ? undefined : refusalOf(() => schemaPair(schema, 'input', 'The schema').json())
  if (unusable !== undefined) return { problem: unusable, remedy: shape }
  if (isHandled(node, event)) return undefined
  return {
    problem: `The answer is sent as the event "${event}", which neither this state nor one above it handles.`,
    remedy: `Add "${event}" to \`on\` of this state, or name an event that it handles.`,
  }
}

function refusalOf(work: () => unknown): string | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    if (ErrandError.isInstance(error)) return error.message
    throw error
  }
}

function isHandled(node: AnyStateNode | undefined, event: string): boolean {
  if (node === undefined) return false
  return node.ownEvents.some((descriptor) => matches(descriptor, event)) || isHandled(node.parent, event)
}

/** `*` takes every event, and `order.*` takes `order`, `order.paid` and `order.paid.late`, as in XState. */
function matches(descriptor: string, event: string): boolean {
  if (descriptor === '*' || descriptor === event) return true
  return descriptor.endsWith('.*') && `${event}.`.startsWith(descriptor.slice(0, -1))
}
