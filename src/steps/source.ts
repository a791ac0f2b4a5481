// Who states something in memory: from the caller, as the engine or a surface knows it, and from the rows of the task that calls.
import { type Caller, isModel } from '../bus/caller.ts'
import { defined } from '../core/defined.ts'
import { type Source, type SourceKind, voiceSeparator } from '../entities/source.ts'
import type { TaskRecord } from '../entities/task.ts'
import type { Op, Reads } from '../ledger/ledger.ts'

/** Where people type. The command line says so itself: only a terminal tells a person from a script. */
const surfacesOfPeople: readonly string[] = ['terminal', 'repl']

/** A task's run is its executor, which is a program; whoever else has a task's credentials works for its model. */
function kindOf(caller: Caller): SourceKind {
  const { surface, taskId } = caller
  if (isModel(caller) || surface === 'agent') return 'model'
  if (surface === 'tools' || (taskId !== undefined && surface !== 'run')) return 'tool'
  return surfacesOfPeople.includes(surface) ? 'person' : 'program'
}

export function* sourceOf(tx: Reads, caller: Caller): Op<Source> {
  const kind = kindOf(caller)
  if (caller.taskId === undefined) return defined({ kind, agentId: caller.owner })
  return yield* sourceIn(tx, kind, caller.taskId)
}

/** Also of a task that is no longer known. */
export function* sourceIn(tx: Reads, kind: SourceKind, taskId: string): Op<Source> {
  const task = yield* tx.task.get(taskId)
  const agentId = (yield* tx.team.stintOfWorker(taskId))?.agentId ?? task?.policy.team?.agentId ?? undefined
  if (kind === 'program' || task === undefined) return defined({ kind, taskId, agentId })
  return defined({ kind, taskId, agentId, voice: yield* voiceOf(tx, task) })
}

/** The agent in its team, or the task, after those that have created its task: `LEAD > TEAM/AGENT`. */
function* voiceOf(tx: Reads, worker: TaskRecord): Op<string> {
  const voice: string[] = []
  for (let speaker: TaskRecord | undefined = worker; speaker !== undefined; ) {
    const own = ownVoice(speaker)
    if (voice.includes(own)) break
    voice.unshift(own)
    // What people and programs create has their right to run commands; what models create has not.
    const creator: string | null = speaker.mayRunCommands ? null : speaker.createdBy
    const above: TaskRecord | undefined = creator === null ? undefined : yield* tx.task.get(creator)
    // A model outside of tasks has set up all of it: whatever agents it has created there speak for it.
    if (creator !== null && above === undefined) return `by ${creator}`
    speaker = above
  }
  return voice.join(voiceSeparator)
}

function ownVoice({ id, policy: { team } }: TaskRecord): string {
  return team === undefined || team.agentId === null ? id : `${team.taskId}/${team.agentId.replaceAll('>', ' ')}`
}
