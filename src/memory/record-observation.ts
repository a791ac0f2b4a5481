// Records observations and facts of a caller. An observation becomes a fact when it is consolidated, at the latest when enough are
// pending; a remembered fact is stored at once and compared by the next consolidation of its branch.
import { z } from 'zod'
import type { Caller } from '../bus/caller.ts'
import { ErrandError } from '../core/errors.ts'
import { idUnder } from '../core/ids.ts'
import { once } from '../core/once.ts'
import { categoryNamed, firstConfidence, summaryCategory, toHundredths } from '../entities/confidence.ts'
import { inferCategory } from '../entities/fact-category.ts'
import { type ObservationRecord, observationTypes } from '../entities/memory.ts'
import type { Op, Tx } from '../ledger/ledger.ts'
import { resolveStatement } from './branch-scope.ts'
import { requireOpenBranch } from './branches.ts'
import { consolidateSession } from './consolidate-session.ts'
import { insertFact, type Writer, writerAt } from './fact-writes.ts'
import type { MemoryHost } from './memory-host.ts'
import { runMemoryStep } from './memory-step.ts'
import { branchTargetShape, categorySchema, fractionSchema, sessionIdSchema, textSchema } from './request-fields.ts'

/** `identity` is that of the call: a repeated call records nothing new. */
type WithIdentity<Request> = Request & { identity: string | undefined }

export const observeSchema = once(() =>
  z.strictObject({
    sessionId: sessionIdSchema()
      .optional()
      .describe('The session of the observation. Default for a calling task: its own.'),
    type: z
      .enum(observationTypes)
      .describe('insight, decision and discovery become facts; tool_use and error are stored for reference.'),
    content: textSchema().describe('What was observed, as a sentence that is true on its own.'),
    outcome: textSchema().optional().describe('The outcome.'),
    ...branchTargetShape('Branch of memory.'),
  }),
)

/** @throws ErrandError NOT_FOUND for branch or task, BRANCH_CLOSED, FORBIDDEN */
export async function recordObservation(
  host: MemoryHost,
  caller: Caller,
  given: WithIdentity<z.output<ReturnType<typeof observeSchema>> & { sessionId: string }>,
): Promise<{ observationId: string }> {
  const ctx = await host.stepContext()
  const { sessionId, type, content, outcome = null, taskId = null, agentId = null, identity } = given
  const own = identity === undefined ? {} : { id: idUnder('obs', identity) }
  const { consolidateEvery } = host.memory
  const stored = await host.step({
    name: 'observe',
    *decide(tx): Op<{ observationId: string; branch: string; isDue: boolean }> {
      const { branch: on, statedBy } = yield* resolveStatement(tx, caller, given, ctx)
      const branch = on.name
      const writer = writerAt(ctx, host)
      const observation = { ...own, sessionId, branch, type, content, outcome, taskId, agentId, statedBy }
      const { observationId } = yield* observe(tx, writer, observation)
      const isDue =
        consolidateEvery !== null && (yield* tx.observation.countPending(branch, sessionId)) >= consolidateEvery
      return { observationId, branch, isDue }
    },
  })
  if (stored.isDue) await consolidateDueSession(host, sessionId, stored.branch)
  return { observationId: stored.observationId }
}

/** Stored unchanged, on an open branch, until it is consolidated. */
interface NewObservation extends Omit<ObservationRecord, 'seq' | 'id' | 'createdAt' | 'consolidatedBy'> {
  /** Default: a new one. A second observation with the same id is ignored. */
  id?: string
}

/** Without an agent, the observation belongs to the agent of the branch. @throws ErrandError NOT_FOUND, BRANCH_CLOSED, INVALID_INPUT */
export function* observe(
  tx: Tx,
  writer: Writer,
  { id = writer.nextId('obs'), ...given }: NewObservation,
): Op<{ observationId: string; isNew: boolean }> {
  const branch = yield* requireOpenBranch(tx, given.branch)
  const isNew = yield* tx.observation.insert({
    ...given,
    id,
    taskId: given.taskId ?? branch.taskId,
    agentId: given.agentId ?? branch.agentId,
    createdAt: writer.ctx.at,
    consolidatedBy: null,
  })
  return { observationId: id, isNew }
}

/** The observation is stored even if this fails; the next one tries again. */
async function consolidateDueSession(host: MemoryHost, sessionId: string, branch: string): Promise<void> {
  const session = { sessionId, branch, taskId: null, agentId: null, trigger: 'every-n' }
  try {
    await runMemoryStep(host, 'consolidate due session', (tx, memory) => consolidateSession(tx, memory, session))
  } catch (error) {
    host.report(error, { doing: 'consolidate a session with enough pending observations', sessionId, branch })
  }
}

export const rememberSchema = once(() =>
  z.strictObject({
    text: textSchema().describe('The fact, as a sentence that is true on its own.'),
    category: categorySchema()
      .optional()
      .describe('Default: inferred from the text, such as bug_fix, architecture, security, …, insight.'),
    confidence: fractionSchema()
      .optional()
      .describe('Confidence, 0 to 1. Default 0.7, which is also the maximum for a model alone.'),
    ...branchTargetShape('Branch of memory.'),
    sessionId: sessionIdSchema().optional(),
  }),
)

/** @throws ErrandError NOT_FOUND for branch or task, BRANCH_CLOSED, FORBIDDEN, INVALID_INPUT for the category of summaries */
export async function remember(
  host: MemoryHost,
  caller: Caller,
  given: WithIdentity<z.output<ReturnType<typeof rememberSchema>>>,
): Promise<{ factId: string }> {
  const { text, sessionId = null, taskId = null, agentId = null, confidence, identity } = given
  const own = identity === undefined ? undefined : idUnder('fact', identity)
  const category = categoryNamed(given.category ?? inferCategory('insight', text, host.memory.categoryRules))
  if (category === summaryCategory) {
    throw new ErrandError(
      'INVALID_INPUT',
      `The category "${summaryCategory}" is reserved for summaries of an agent's facts. Give the fact another one, or none.`,
      { category },
    )
  }
  const ctx = await host.stepContext()
  return host.step({
    name: 'remember',
    *decide(tx): Op<{ factId: string }> {
      if (own !== undefined && (yield* tx.fact.get(own)) !== undefined) return { factId: own }
      const { branch, statedBy } = yield* resolveStatement(tx, caller, given, ctx)
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
