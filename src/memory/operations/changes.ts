// The abilities that change memory: they store observations and facts, consolidate, merge and archive.
import { z } from 'zod'
import type { Caller } from '../../bus/caller.ts'
import { ErrandError } from '../../core/errors.ts'
import { eitherCase } from '../../operations/key-case.ts'
import { idsIn } from '../../operations/own-tasks.ts'
import { archiveBranch, archiveSchema, archiveTask } from '../archive.ts'
import { consolidate, consolidateOutcomeSchema, consolidateSchema, merge, mergeSchema } from '../consolidate.ts'
import type { MemoryHost } from '../memory-host.ts'
import { mergeOutcomeSchema } from '../merge.ts'
import { observeSchema, recordObservation, remember, rememberSchema } from '../record-observation.ts'
import { saveEpisode, saveSchema } from '../save-episode.ts'
import { defineMemoryOperation, type MemoryAbilityHost } from './memory-ability-host.ts'

/**
 * BRANCH_CLOSED for an archived branch, NOT_FOUND for an unknown one. With `memory.consolidateEvery` it may trigger a consolidation of the
 * session.
 */
export const memObserve = defineMemoryOperation({
  id: 'mem:observe',
  access: 'create',
  description: 'Stores an observation in memory: an insight, a decision, a discovery, the use of a tool, an error.',
  input: () => eitherCase(observeSchema()),
  output: () => z.object({ observationId: z.string() }),
  // The identity of the call makes a repetition a no-op.
  onInterrupt: 'rerun',
  handle: ({ sessionId, ...given }, { caller, identity }, host) =>
    recordObservation(host, caller, { ...given, identity, sessionId: requireSession(sessionId, caller) }),
})

/** Default: the calling task, as each run is a session of its own. @throws ErrandError INVALID_INPUT { missing } */
function requireSession(sessionId: string | undefined, { taskId }: Caller): string {
  const named = sessionId ?? taskId
  if (named !== undefined) return named
  throw new ErrandError('INVALID_INPUT', 'Set `sessionId` to the session that this belongs to.', {
    missing: 'sessionId',
  })
}

/** The fact is not compared with others here; the next consolidation at the agent's level merges duplicates. */
export const memRemember = defineMemoryOperation({
  id: 'mem:remember',
  access: 'create',
  description: 'Stores a fact in memory.',
  input: () => eitherCase(rememberSchema()),
  output: () => z.object({ factId: z.string() }),
  // The identity of the call makes a repetition a no-op.
  onInterrupt: 'rerun',
  handle: (given, { caller, identity }, host) => remember(host, caller, { ...given, identity }),
})

/** A second run changes nothing. INVALID_INPUT if an input that the level requires is missing; NOT_FOUND for unknown ids. */
export const memConsolidate = defineMemoryOperation({
  id: 'mem:consolidate',
  access: 'control',
  description: 'Consolidates the memory of a session, an agent, a task, or all tasks of a project.',
  routes: [
    {
      endpoint: 'POST /tasks/{taskId}/consolidate',
      tag: 'Teams',
      operationId: 'consolidate',
      summary: 'Consolidate the memory of a task',
    },
  ],
  input: () => eitherCase(consolidateSchema()),
  output: consolidateOutcomeSchema,
  handle({ sessionId, ...request }, { caller }, host) {
    const session = sessionId ?? (request.level === 'session' ? caller.taskId : undefined)
    return consolidate(host, caller, { ...request, sessionId: session })
  },
})

/** Observations of the branch that are not consolidated yet become facts first. Facts that were merged before are not merged again. */
export const memMerge = defineMemoryOperation({
  id: 'mem:merge',
  access: 'control',
  description: 'Merges a memory branch into one above it: facts known there gain confidence, the others are copied.',
  input: () => eitherCase(mergeSchema()),
  output: mergeOutcomeSchema,
  models: false,
  handle: (request, { caller }, host) => merge(host, caller, request),
})

/** Stores one fact of the category `episode` per task; a second call updates it. Your own ability under this id replaces it. */
export const memSave = defineMemoryOperation({
  id: 'mem:save',
  access: 'control',
  description: 'Stores in memory what a task was about and its outcome.',
  input: saveSchema,
  output: () => z.object({ factId: z.string() }),
  models: false,
  scope: ({ task }) => [task.id],
  handle: async (request, { caller }, host) => saveEpisode(await reconcilerHost(host, caller), caller, request),
})

/**
 * Archiving a task twice adds nothing. `main` cannot be archived. A closed branch stays readable and accepts no writes. Your own ability
 * under this id replaces it.
 */
export const memArchive = defineMemoryOperation({
  id: 'mem:archive',
  access: 'control',
  description: 'Stores the conversation of a task as observations, or closes a memory branch and those below it.',
  input: () => eitherCase(archiveSchema()),
  output: () =>
    z.object({
      observations: z.int().min(0).describe('Number of new observations.'),
      branches: z.array(z.string()).describe('Branches that were closed.'),
    }),
  models: false,
  scope: ({ taskId }) => idsIn(taskId),
  async handle({ taskId, branch, context = [] }, { caller }, host) {
    if (branch !== undefined) return { observations: 0, branches: await archiveBranch(host, caller, branch) }
    const observations = await archiveTask(await reconcilerHost(host, caller), caller, taskId as string, context)
    return { observations, branches: [] }
  },
})

/** The engine archives ended tasks even while it closes, when other callers can no longer write. */
async function reconcilerHost(host: MemoryAbilityHost, { surface }: Caller): Promise<MemoryHost> {
  return surface === 'engine' ? await host.whileClosing() : host
}
