// What memory knows that bears on a goal. Memory is optional: an engine without it, a memory that fails or takes too long, recall
// nothing, and the task goes on (conformance S1-070, S1-072, S1-073).
import { z } from 'zod'
import type { AgentRun } from '../../agent-run.ts'
import { untilAborted } from '../../signals.ts'
import { storableText } from '../../storable-text.ts'

/** Conformance S1-072. */
export const recallHeading = 'Here is relevant context from past tasks:'

const mostRecalled = 5
/** Characters of all that is recalled together: more would leave the model no room for its work. */
const mostRecalledText = 100_000
const longestRecallMs = 10_000

const piece = z.object({ content: z.string().optional(), text: z.string().optional() })
/** Both shapes that memories answer with (conformance C-29). */
const recalledSchema = z.object({ chunks: z.array(piece).optional(), nodes: z.array(piece).optional() })

/** Texts joined by blank lines; empty when there is nothing. Never rejects but for the end of the run. */
export async function recall(talk: AgentRun, query: string, signal: AbortSignal): Promise<string> {
  const answer = await askMemory(talk, 'mem:retrieve', { query, limit: mostRecalled }, recalledSchema, signal)
  const recalled = (answer?.chunks ?? answer?.nodes ?? [])
    .map(({ content, text }) => content ?? text ?? '')
    .filter((text) => text !== '')
    .join('\n\n')
    .slice(0, mostRecalledText)
  return storableText(recalled)
}

/** Asked as the task itself: undefined where nobody answers, in time and as expected. @throws the reason of the signal. */
export async function askMemory<T>(
  talk: AgentRun,
  abilityId: string,
  input: unknown,
  schema: z.ZodType<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  if (!talk.bus.has(abilityId)) return undefined
  const { taskId, run } = talk.caller
  const caller = {
    surface: 'agent',
    ...(taskId === undefined ? {} : { taskId }),
    ...(run === undefined ? {} : { run }),
  }
  const late = new AbortController()
  const timer = talk.clock.setTimeout(() => late.abort(new Error('memory took too long')), longestRecallMs)
  try {
    const until = AbortSignal.any([signal, late.signal])
    return schema.parse(await untilAborted(talk.bus.call(abilityId, input, { caller, signal: until }), until))
  } catch (error) {
    signal.throwIfAborted()
    talk.report(error, abilityId === 'mem:retrieve' ? 'recall from memory' : 'hear of the team')
    return undefined
  } finally {
    talk.clock.clearTimeout(timer)
  }
}
