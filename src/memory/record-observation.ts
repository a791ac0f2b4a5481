// Somebody tells what it has seen, or what it knows. The first becomes a fact when it is consolidated, at the latest by number; the
// second is a fact at once, which the next comparison of its branch takes up.
import { z } from 'zod'
import type { Caller } from '../bus/caller.ts'
import { ErrandError } from '../core/errors.ts'
import { idUnder } from '../core/ids.ts'
import { checkText } from '../core/json.ts'
import { categoryNamed, firstConfidence, summaryCategory, toHundredths } from '../entities/confidence.ts'
import { inferCategory } from '../entities/fact-category.ts'
import { type ObservationRecord, observationTypes } from '../entities/memory.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import { requireOpenBranch } from '../steps/branch.ts'
import { placeOfStatement } from './branch-scope.ts'
import { consolidateSession } from './consolidate-session.ts'
import { deliberate } from './deliberate.ts'
import { insertFact, type Writer, writerAt } from './fact-writes.ts'
import type { MemoryHost } from './memory-host.ts'
import { categorySchema, fractionSchema, listenAddressShape, sessionIdSchema, textSchema } from './request-fields.ts'

/** `identity` is that of the call that says so: repeated, it says it once. */
type Said<Request> = Request & { identity: string | undefined }

export const observeSchema = z.strictObject({
  sessionId: sessionIdSchema.optional().describe('Which session saw it. Default, for a task that calls: its own.'),
  type: z
    .enum(observationTypes)
    .describe('insight, decision and discovery become facts; tool_use and error are kept to look at.'),
  content: textSchema.describe('What was seen, in a sentence that is true by itself.'),
  outcome: textSchema.optional().describe('What came of it.'),
  ...listenAddressShape('Branch of memory.'),
})

/** @throws ErrandError NOT_FOUND for branch or task, BRANCH_CLOSED, FORBIDDEN */
export async function takeObservation(
  host: MemoryHost,
  caller: Caller,
  given: Said<z.output<typeof observeSchema> & { sessionId: string }>,
): Promise<{ observationId: string }> {
  const ctx = await host.stepContext()
  const { sessionId, type, content, outcome = null, taskId = null, agentId = null, identity } = given
  const own = identity === undefined ? {} : { id: idUnder('obs', identity) }
  const { consolidateEvery } = host.memory
  const stored = await host.step({
    name: 'observe',
    *decide(tx): Op<{ observationId: string; branch: string; isDue: boolean }> {
      const { branch: on, statedBy } = yield* placeOfStatement(tx, caller, given, ctx)
      const branch = on.name
      const writer = writerAt(ctx, host)
      const observation = { ...own, sessionId, branch, type, content, outcome, taskId, agentId, statedBy }
      const { observationId } = yield* observe(tx, writer, observation)
      const isDue =
        consolidateEvery !== null && (yield* tx.observation.countPending(branch, sessionId)) >= consolidateEvery
      return { observationId, branch, isDue }
    },
  })
  if (stored.isDue) await consolidateByNumber(host, sessionId, stored.branch)
  return { observationId: stored.observationId }
}

/** Kept as it is said, on an open branch, until a consolidation takes it up. */
interface NewObservation extends Omit<ObservationRecord, 'seq' | 'id' | 'createdAt' | 'consolidatedBy'> {
  /** Default: one of its own. What is given twice under one id is there once. */
  id?: string
}

/** On the branch of an agent it is that agent's, where nobody is named. @throws ErrandError NOT_FOUND, BRANCH_CLOSED, INVALID_INPUT */
export function* observe(
  tx: Tx,
  d: Writer,
  { id = d.nextId('obs'), ...given }: NewObservation,
): Op<{ observationId: string; isNew: boolean }> {
  checkText(given.content, 'the content')
  if (given.outcome !== null) checkText(given.outcome, 'the outcome')
  const branch = yield* requireOpenBranch(tx, given.branch)
  const isNew = yield* tx.observation.insert({
    ...given,
    id,
    taskId: given.taskId ?? branch.taskId,
    agentId: given.agentId ?? branch.agentId,
    createdAt: d.ctx.at,
    consolidatedBy: null,
  })
  return { observationId: id, isNew }
}

/** The observation is kept whatever becomes of this: the next one that comes tries again. */
async function consolidateByNumber(host: MemoryHost, sessionId: string, branch: string): Promise<void> {
  const session = { sessionId, branch, taskId: null, agentId: null, trigger: 'every-n' }
  try {
    await deliberate(host, 'consolidate by number', (tx, d) => consolidateSession(tx, d, session))
  } catch (error) {
    host.report(error, { doing: 'consolidate a session by number', sessionId, branch })
  }
}

export const rememberSchema = z.strictObject({
  text: textSchema.describe('What is so, in a sentence that is true by itself.'),
  category: categorySchema
    .optional()
    .describe('Default: told by its words, as bug_fix, architecture, security, …, insight.'),
  confidence: fractionSchema
    .optional()
    .describe('How sure it is, 0 to 1. Default 0.7, which is also the most that a model alone is believed.'),
  ...listenAddressShape('Branch of memory.'),
  sessionId: sessionIdSchema.optional(),
})

/** @throws ErrandError NOT_FOUND for branch or task, BRANCH_CLOSED, FORBIDDEN, INVALID_INPUT for the category of summaries */
export async function remember(
  host: MemoryHost,
  caller: Caller,
  given: Said<z.output<typeof rememberSchema>>,
): Promise<{ factId: string }> {
  const { sessionId = null, taskId = null, agentId = null, confidence, identity } = given
  const own = identity === undefined ? undefined : idUnder('fact', identity)
  const text = checkText(given.text, 'the text')
  const category = categoryNamed(given.category ?? inferCategory('insight', text, host.memory.categoryRules))
  if (category === summaryCategory) {
    throw new ErrandError(
      'INVALID_INPUT',
      `"${summaryCategory}" is the category of what consolidation says of an agent's facts. Give the fact another one, or none.`,
      { category },
    )
  }
  const ctx = await host.stepContext()
  return host.step({
    name: 'remember',
    *decide(tx): Op<{ factId: string }> {
      if (own !== undefined && (yield* tx.fact.get(own)) !== undefined) return { factId: own }
      const { branch, statedBy } = yield* placeOfStatement(tx, caller, given, ctx)
      const fact = yield* insertFact(
        tx,
        { ctx, nextId: (prefix) => own ?? host.nextId(prefix) },
        {
          branch: branch.name,
          text,
          category,
          confidence: confidence === undefined ? firstConfidence : toHundredths(confidence),
          statedBy: [statedBy],
          sessionId,
          taskId: taskId ?? branch.taskId,
          agentId: agentId ?? branch.agentId,
        },
      )
      return { factId: fact.id }
    },
  })
}
