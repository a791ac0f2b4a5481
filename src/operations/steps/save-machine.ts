// Writes the situation of a machine, and what readers see of a macrostep.
import type { MachineDetails, MachineEvent, MachineState } from '../../entities/machine.ts'
import type { TaskRecord } from '../../entities/task.ts'
import type { NewCall, Op, Tx } from '../../ledger/ledger.ts'
import { eventOf, type StepContext } from './step-context.ts'

/** Writes the situation of a machine into its entry. */
export function* saveMachine(
  tx: Tx,
  entry: NewCall,
  isNew: boolean,
  details: MachineDetails,
  ctx: StepContext,
): Op<void> {
  const isDone = details.state.status === 'done'
  const saved = {
    ...entry,
    status: isDone ? ('completed' as const) : ('pending' as const),
    details,
    dueAt: isDone ? null : (details.next?.dueAt ?? null),
    updatedAt: ctx.at,
  }
  if (isNew) yield* tx.call.insert(saved)
  else yield* tx.call.save(saved)
}

/** Appends what readers see of a macrostep. `event`: what the machine has consumed; absent: it has not moved. */
export function* publishMove(
  tx: Tx,
  task: TaskRecord,
  { value, step: number }: MachineState,
  {
    event,
    emitted,
    logged,
  }: { event: string | undefined; emitted: readonly MachineEvent[]; logged: readonly string[] },
  ctx: StepContext,
): Op<void> {
  const { run } = task
  if (event !== undefined) {
    yield* tx.event.append(eventOf(ctx, 'machine.moved', task, { event, value, step: number, run }))
  }
  for (const each of emitted) yield* tx.event.append(eventOf(ctx, 'machine.emitted', task, { event: each, run }))
  for (const text of logged) yield* tx.event.append(eventOf(ctx, 'output.written', task, { text, run }))
}
