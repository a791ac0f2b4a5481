// `--dry-run`: what a run would do with each task, in an order in which they could run.
import type { TaskStatus } from '../../entities/task.ts'
import type { Decision } from './plan-round.ts'
import { formatTable } from './table.ts'

export function describeDecisions(decisions: readonly Decision[]): string[] {
  return formatTable(decisions, { would: verbFor, task: ({ task }) => task.path, because: reasonFor })
}

export function decisionJson(decision: Decision) {
  return {
    task: decision.task.path,
    action: verbFor(decision),
    because: reasonFor(decision),
    changed: decision.changed,
    taskId: decision.known?.task.id ?? null,
    status: decision.known?.task.status ?? null,
    after: decision.task.after,
  }
}

function verbFor({ action, task, known, changed, needed }: Decision): string {
  switch (action) {
    case 'create':
      return needed ? 'create' : 'hold'
    case 'redo':
    case 'retry':
      return action
    case 'keep':
      break
  }
  switch (known?.task.status) {
    case 'completed':
    case 'canceled':
    case 'failed':
    case 'working':
    case undefined:
      return 'leave'
    case 'submitted':
    case 'paused':
    case 'waiting':
    case 'input_required':
      return changed && task.spec.executor !== 'agent' ? 'update' : 'go on'
  }
}

/** Only what has ended well, or was ended, is run again for no other reason than that somebody wants it. */
function isRedone({ status }: { status: TaskStatus }): boolean {
  return status === 'completed' || status === 'canceled'
}

const standing: Readonly<Record<TaskStatus, string>> = {
  submitted: 'it has not run yet',
  working: 'it is working',
  paused: 'it is paused',
  input_required: 'it asks something',
  waiting: 'it is waiting',
  completed: 'it is completed',
  failed: 'it failed',
  canceled: 'it was canceled',
}

function reasonFor({ action, known, changed, needed }: Decision): string {
  const was = known === undefined ? 'it is new' : standing[known.task.status]
  const hints = [...(changed ? ['its definition was changed'] : []), ...(needed ? [] : ['nothing asked for needs it'])]
  if (action === 'redo')
    hints.unshift(known !== undefined && isRedone(known.task) ? '--redo names it' : 'an agent begins anew')
  return [was, ...hints].join(', ')
}
