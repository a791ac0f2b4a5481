// What can be seen of the task of a machine in its ledger, in the form that XState's own actor is seen in.

import type { TaskEvent } from '../../src/entities/event.ts'
import type { MachineDetails, MachineState } from '../../src/entities/machine.ts'
import { isSettled } from '../../src/entities/task.ts'
import type { Ledger, Op, Reads } from '../../src/ledger/ledger.ts'
import { machineEntryOf } from '../../src/operations/steps/machine.ts'
import { asJson, type View } from './machine-runner.ts'

/** How often the ledger says that a named action was begun, and that it has returned or thrown. */
export interface ActionCounts {
  begun: Map<string, number>
  ended: Map<string, number>
}

/** Shows a task from its ledger. What happened is in order of the feed, so each event and each action that has ended is there once. */
export class TaskView {
  readonly taskId: string
  /** Of all machines below too. */
  readonly counts: ActionCounts = { begun: new Map(), ended: new Map() }
  #seen = 0

  constructor(taskId: string) {
    this.taskId = taskId
  }

  /** What is, and what has happened since the view before. */
  async next(ledger: Ledger): Promise<View> {
    return ledger.read((tx) => this.#read(tx))
  }

  *#read(tx: Reads): Op<View> {
    const { taskId } = this
    const task = yield* tx.task.get(taskId)
    const entry = yield* machineEntryOf(tx, taskId)
    const state = (entry?.details as MachineDetails | undefined)?.state
    const actions: string[] = []
    const emitted: unknown[] = []
    for (const event of yield* tx.event.after(this.#seen, 100_000)) {
      this.#seen = event.seq
      if (event.type === 'machine.emitted' && event.taskId === taskId) emitted.push(asJson(event.data['event']))
      const action = yield* this.#actionOf(tx, event)
      if (action !== undefined) actions.push(action)
    }
    const status = task?.status === 'failed' ? 'error' : task?.status === 'completed' ? 'done' : 'active'
    return {
      status,
      value: asJson(state?.value),
      context: asJson(state?.context),
      output: asJson(task?.status === 'completed' ? task.result : undefined),
      error: task?.status === 'failed' ? (task.error?.message ?? null) : null,
      children: status === 'active' && state !== undefined ? yield* activeChildren(tx, state) : [],
      actions,
      emitted,
    }
  }

  /** The named action that an event says has ended. */
  *#actionOf(tx: Reads, { type, taskId, data }: TaskEvent): Op<string | undefined> {
    if (type !== 'call.started' && type !== 'call.completed' && type !== 'call.failed') return undefined
    const call = yield* tx.call.get(data['callId'] as string)
    if (call?.ident.startsWith('k:action:') !== true || call.name.includes(':')) return undefined
    const path = (yield* tx.task.get(taskId))?.policy.machine?.path ?? []
    const name = [...path, call.name].join('/')
    if (type === 'call.started') {
      add(this.counts.begun, name)
      return undefined
    }
    if ((data['error'] as { code?: string } | undefined)?.code === 'CALL_INTERRUPTED') return undefined
    add(this.counts.ended, name)
    return name
  }
}

function* activeChildren(tx: Reads, { actors }: MachineState): Op<string[]> {
  const active: string[] = []
  for (const [id, { ended, taskId }] of Object.entries(actors)) {
    if (ended) continue
    const child = taskId === undefined ? undefined : yield* tx.task.get(taskId)
    if (child === undefined || !isSettled(child.status)) active.push(id)
  }
  return active.sort()
}

export function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}
