// Saves the outcome of a task as one fact. A second save with the same outcome adds nothing; with another one it supersedes the first.
import { z } from 'zod'
import type { Caller } from '../bus/caller.ts'
import { once } from '../core/once.ts'
import { storableText } from '../core/storable-text.ts'
import { firstConfidence } from '../entities/confidence.ts'
import { type FactRecord, mainBranch } from '../entities/memory.ts'
import { isTrusted, type Source } from '../entities/source.ts'
import { failureSuffix } from '../entities/task.ts'
import { taskIdSchema } from '../entities/task-fields.ts'
import type { Op, Reads, Tx } from '../ledger/ledger.ts'
import { sourceIn, sourceOf } from '../operations/steps/source.ts'
import type { StepContext } from '../operations/steps/step-context.ts'
import { branchOfTeam, memoryScopeOf, openBranch, ownBranch } from './branch-scope.ts'
import { insertFact, supersedeFact, writerAt } from './fact-writes.ts'
import type { MemoryHost } from './memory-host.ts'
import { shortened } from './summary-text.ts'

export const saveSchema = once(() =>
  z.strictObject({
    task: z.looseObject({ id: taskIdSchema }).describe('The task: its goal or name, its status, its result.'),
    error: z.string().max(100_000).optional().describe('The error, if the task failed.'),
  }),
)
type SaveRequest = z.output<ReturnType<typeof saveSchema>>

/** Episodes describe events rather than facts, so they are durable only if configured. */
const episodeCategory = 'episode'

const maxTitleLength = 1_000
const maxOutcomeLength = 10_000

/**
 * Saved on the branch of the task's team, else on `main`. Episodes saved by the engine count as stated by the task's model, so they go to
 * a branch of the task.
 * @throws ErrandError FORBIDDEN, BRANCH_CLOSED
 */
export async function saveEpisode(
  host: MemoryHost,
  caller: Caller,
  { task, error }: SaveRequest,
): Promise<{ factId: string }> {
  const ctx = await host.stepContext()
  const text = episodeOf(task, error)
  return host.step({
    name: 'save episode',
    *decide(tx): Op<{ factId: string }> {
      const statedBy = yield* sourceOfEpisode(tx, caller, task.id)
      const branch = yield* branchOfEpisode(tx, caller, task.id, statedBy, ctx)
      if (caller.taskId !== undefined) yield* branchOfTeam(tx, caller, branch)
      return { factId: yield* write(tx, host, ctx, { taskId: task.id, branch, text, statedBy }) }
    },
  })
}

function* sourceOfEpisode(tx: Reads, caller: Caller, taskId: string): Op<Source> {
  return caller.surface === 'engine' ? yield* sourceIn(tx, 'model', taskId) : yield* sourceOf(tx, caller)
}

/** Works for a deleted task as well; for a closed branch it returns the nearest open one above. */
function* branchOfEpisode(tx: Tx, caller: Caller, taskId: string, statedBy: Source, ctx: StepContext): Op<string> {
  const { branch, team } = yield* memoryScopeOf(tx, taskId)
  if (team !== undefined) return yield* openBranch(tx, team.branch, statedBy)
  if (!isTrusted(statedBy)) return yield* openBranch(tx, yield* ownBranch(tx, taskId, ctx), statedBy)
  return caller.taskId === undefined ? mainBranch : yield* openBranch(tx, branch, statedBy)
}

interface Episode {
  taskId: string
  branch: string
  text: string
  statedBy: Source
}

function* write(tx: Tx, host: MemoryHost, ctx: StepContext, { taskId, branch, text, statedBy }: Episode): Op<string> {
  const filter = { branches: [branch], category: episodeCategory, taskId }
  const [last]: FactRecord[] = yield* tx.fact.list(filter, 1, Number.MAX_SAFE_INTEGER)
  if (last?.text === text) return last.id
  const writer = writerAt(ctx, host)
  const episode = yield* insertFact(tx, writer, {
    branch,
    text,
    category: episodeCategory,
    confidence: firstConfidence,
    statedBy: [statedBy],
    sessionId: taskId,
    taskId,
    agentId: null,
  })
  if (last?.status === 'active') yield* supersedeFact(tx, writer, last, episode.id)
  return episode.id
}

function episodeOf({ id, name, goal, status, result }: SaveRequest['task'], error: string | undefined): string {
  const [title = id] = [goal, name].filter((each) => typeof each === 'string' && each.trim() !== '') as string[]
  const outcome =
    error !== undefined
      ? `failed${failureSuffix(error)}`
      : result === undefined || result === null
        ? textOf(status)
        : textOf(result)
  return storableText(`${shortened(title, maxTitleLength)} — ${shortened(outcome, maxOutcomeLength)}`)
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return 'not settled'
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'settled')
}
