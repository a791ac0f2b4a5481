// The abilities that change memory: what was seen and what is known is kept, consolidated, merged, and put away.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import type { Caller } from '../../bus/caller.ts'
import { ErrandError } from '../../core/errors.ts'
import { archiveBranch, archiveSchema, archiveTask } from '../../memory/archive.ts'
import {
  consolidate,
  consolidateOutcomeSchema,
  consolidateSchema,
  merge,
  mergeSchema,
} from '../../memory/consolidate.ts'
import type { MemoryHost } from '../../memory/memory-host.ts'
import { mergeOutcomeSchema } from '../../memory/merge.ts'
import { observeSchema, recordObservation, remember, rememberSchema } from '../../memory/record-observation.ts'
import { saveEpisode, saveSchema } from '../../memory/save-episode.ts'
import type { AbilityHost } from '../ability-host.ts'
import { eitherCase } from '../key-case.ts'
import { idsIn } from '../own-tasks.ts'

/** An archived branch is BRANCH_CLOSED, an unknown one NOT_FOUND. With `memory.consolidateEvery` the session may be consolidated by it. */
export function memObserve(host: AbilityHost) {
  return defineAbility({
    id: 'mem:observe',
    access: 'create',
    description: 'Keeps an observation in memory: an insight, a decision, a discovery, the use of a tool, an error.',
    input: eitherCase(observeSchema),
    output: z.object({ observationId: z.string() }),
    // Kept once under the identity of its call, so to say it again does no harm.
    onInterrupt: 'rerun',
    handle: ({ sessionId, ...given }, { caller, identity }) =>
      recordObservation(host, caller, { ...given, identity, sessionId: requireSession(sessionId, caller) }),
  })
}

/** Where none is named, that of the task that calls: a run is a session of its own. @throws ErrandError INVALID_INPUT { missing } */
function requireSession(sessionId: string | undefined, { taskId }: Caller): string {
  const named = sessionId ?? taskId
  if (named !== undefined) return named
  throw new ErrandError('INVALID_INPUT', 'Name the session that this belongs to with `sessionId`.', {
    missing: 'sessionId',
  })
}

/** Stated, not compared: the next consolidation at the agent's level finds what is said twice. */
export function memRemember(host: AbilityHost) {
  return defineAbility({
    id: 'mem:remember',
    access: 'create',
    description: 'Keeps a fact in memory that is known to be so.',
    input: eitherCase(rememberSchema),
    output: z.object({ factId: z.string() }),
    // Kept once under the identity of its call, so to say it again does no harm.
    onInterrupt: 'rerun',
    handle: (given, { caller, identity }) => remember(host, caller, { ...given, identity }),
  })
}

/** Run twice it changes nothing the second time. What a level needs and was not given is INVALID_INPUT; unknown ids are NOT_FOUND. */
export function memConsolidate(host: AbilityHost) {
  return defineAbility({
    id: 'mem:consolidate',
    access: 'control',
    description: 'Consolidates memory: of a session, of an agent, of a task, or across the tasks of a project.',
    input: eitherCase(consolidateSchema),
    output: consolidateOutcomeSchema,
    handle({ sessionId, ...request }, { caller }) {
      const session = sessionId ?? (request.level === 'session' ? caller.taskId : undefined)
      return consolidate(host, caller, { ...request, sessionId: session })
    },
  })
}

/** What was observed on it and not consolidated yet becomes facts before. What was carried once is not carried again. */
export function memMerge(host: AbilityHost) {
  return defineAbility({
    id: 'mem:merge',
    access: 'control',
    description:
      'Merges a branch of memory into one above it: what is known there becomes surer, the rest is carried over.',
    input: eitherCase(mergeSchema),
    output: mergeOutcomeSchema,
    models: false,
    handle: (request, { caller }) => merge(host, caller, request),
  })
}

/**
 * One fact of the category `episode` for each task: saved again it says the new state. An ability of yours under this id takes its
 * place.
 */
export function memSave(host: AbilityHost) {
  return defineAbility({
    id: 'mem:save',
    access: 'control',
    description: 'Keeps in memory what a task was and what it came to.',
    input: saveSchema,
    output: z.object({ factId: z.string() }),
    models: false,
    scope: ({ task }) => [task.id],
    handle: async (request, { caller }) => saveEpisode(await reconcilerHost(host, caller), caller, request),
  })
}

/**
 * To archive a task twice adds nothing. `main` is never archived. A closed branch is read as before, and takes nothing new. An ability
 * of yours under this id takes its place.
 */
export function memArchive(host: AbilityHost) {
  return defineAbility({
    id: 'mem:archive',
    access: 'control',
    description: 'Keeps the conversation of a task as observations, or closes a branch of memory and those below it.',
    input: eitherCase(archiveSchema),
    output: z.object({
      observations: z.int().min(0).describe('How many were new.'),
      branches: z.array(z.string()).describe('Those that are closed now.'),
    }),
    models: false,
    scope: ({ taskId }) => idsIn(taskId),
    async handle({ taskId, branch, context = [] }, { caller }) {
      if (branch !== undefined) return { observations: 0, branches: await archiveBranch(host, caller, branch) }
      const observations = await archiveTask(await reconcilerHost(host, caller), caller, taskId as string, context)
      return { observations, branches: [] }
    },
  })
}

/** The engine gives tasks that have ended to memory while it closes, too, when nobody else may write. */
async function reconcilerHost(host: AbilityHost, { surface }: Caller): Promise<MemoryHost> {
  return surface === 'engine' ? await host.whileClosing() : host
}
