// The source of a statement in memory: from the caller, as the engine or a surface identified it, and from the rows of the task that calls.
import { type Caller, isModel } from '../../bus/caller.ts'
import { omitUndefined } from '../../core/omit-undefined.ts'
import { type Source, type SourceKind, voiceSeparator } from '../../entities/source.ts'
import type { TaskRecord } from '../../entities/task.ts'
import type { Op, Reads } from '../../ledger/ledger.ts'

/** Surfaces at which people type. The command line decides between them and scripts: only it can recognize a terminal. */
const surfacesOfPeople: readonly string[] = ['terminal', 'repl']

/** The run of a task is its executor, which is a program; other callers with the credentials of a task act for its model. */
function kindOf(caller: Caller): SourceKind {
  const { surface, taskId } = caller
  if (isModel(caller) || surface === 'agent') return 'model'
  if (surface === 'tools' || (taskId !== undefined && surface !== 'run')) return 'tool'
  return surfacesOfPeople.includes(surface) ? 'person' : 'program'
}

export function* sourceOf(tx: Reads, caller: Caller): Op<Source> {
  const kind = kindOf(caller)
  if (caller.taskId === undefined) return omitUndefined({ kind, agentId: caller.owner })
  return yield* sourceIn(tx, kind, caller.taskId)
}

/** Also for a task that does not exist any more. */
export function* sourceIn(tx: Reads, kind: SourceKind, taskId: string): Op<Source> {
  const task = yield* tx.task.get(taskId)
  const agentId = (yield* tx.team.stintOfWorker(taskId))?.agentId ?? task?.policy.team?.agentId ?? undefined
  if (kind === 'program' || task === undefined) return omitUndefined({ kind, taskId, agentId })
  return omitUndefined({ kind, taskId, agentId, voice: yield* voiceOf(tx, task) })
}

/** The agent in its team, or the task, after those that created its task: `LEAD > TEAM/AGENT`. */
function* voiceOf(tx: Reads, worker: TaskRecord): Op<string> {
  const voice: string[] = []
  for (let speaker: TaskRecord | undefined = worker; speaker !== undefined; ) {
    const own = ownVoice(speaker)
    if (voice.includes(own)) break
    voice.unshift(own)
    // What people and programs create may run commands; what models create may not.
    const creator: string | null = speaker.mayRunCommands ? null : speaker.createdBy
    const above: TaskRecord | undefined = creator === null ? undefined : yield* tx.task.get(creator)
    // A model outside of tasks created all of this: the agents that it created count as one source with it.
    if (creator !== null && above === undefined) return `by ${creator}`
    speaker = above
  }
  return voice.join(voiceSeparator)
}

function ownVoice({ id, policy: { team } }: TaskRecord): string {
  return team === undefined || team.agentId === null ? id : `${team.taskId}/${team.agentId.replaceAll('>', ' ')}`
}
