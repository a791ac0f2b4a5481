// What the machine of a task decides about its relatives, in one word.
import type { DependencyRecord } from '../../src/entities/dependency.ts'
import type { TaskRecord } from '../../src/entities/task.ts'
import type { ChildFacts } from '../../src/machines/family.ts'
import { decideTask, type TaskMachineEvent } from '../../src/machines/task-machine.ts'

type FamilyEvent = Extract<TaskMachineEvent, { own: TaskRecord }>

function decided(event: FamilyEvent): { to: string; actions: string[] } {
  const steps = decideTask(event.own.status, event) ?? []
  return {
    to: steps.length > 1 ? (steps.at(-1)?.to as string) : event.own.status,
    actions: steps.flatMap(({ actions }) => actions.map(({ type }) => type)),
  }
}

/** What becomes of a parent by its children, when all tasks that this concerns are judged. */
export function parentVerdict(own: TaskRecord, children: ChildFacts): 'complete' | 'fail' | null {
  const { to } = decided({ type: 'child.settled', own, children, allJudged: true })
  return to === 'completed' && own.status !== to ? 'complete' : to === 'failed' && own.status !== to ? 'fail' : null
}

/** What the end of a dependency means to a dependent. */
export function dependencyVerdict(
  own: TaskRecord,
  { status, deletedAt }: Pick<TaskRecord, 'status' | 'deletedAt'>,
): 'satisfy' | 'cancel' | null {
  const blocker = { ...own, id: 'task-blocker', status, deletedAt }
  const { to, actions } = decided({ type: 'blocker.settled', own, blocker, edge: {} as DependencyRecord })
  if (actions.includes('satisfyDependency')) return 'satisfy'
  return to === 'canceled' && own.status !== to ? 'cancel' : null
}

/** What the failure of a child for good means to its parent. */
export function childFailureVerdict(own: TaskRecord): 'fail' | 'cancel-siblings' | null {
  const child = { ...own, id: 'task-child', status: 'failed' as const }
  const { to, actions } = decided({ type: 'child.failed', own, child })
  if (actions.includes('cancelSiblings')) return 'cancel-siblings'
  return to === 'failed' && own.status !== to ? 'fail' : null
}
