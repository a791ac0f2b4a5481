// A change of one task, defined once: the ability that the bus serves, and what the engine's method of the same name calls.
import { z } from 'zod'
import { defineAbility } from '../../bus/ability.ts'
import type { Caller } from '../../bus/caller.ts'
import type { Task, TaskRecord } from '../../entities/task.ts'
import type { Step } from '../../ledger/ledger.ts'
import type { ClaimToken } from '../../machines/ownership.ts'
import { expecting, within } from '../../steps/conditions.ts'
import { requestedBy, type StepContext } from '../../steps/step-context.ts'
import type { AbilityHost } from '../ability-host.ts'
import { memoryScopeOf, standingSchema, verbShape } from './task-input.ts'

/** Which task a change is about, and the version that it is expected to have. */
export interface Subject {
  taskId: string
  expectedVersion?: number | undefined
}

type Shape = z.core.$ZodLooseShape
type InputSchema<S extends Shape> = z.ZodObject<typeof verbShape & S, z.core.$strict>
type Input<S extends Shape> = z.output<InputSchema<S>>

export interface ChangeContext {
  host: AbilityHost
  caller: Caller
  /** Who writes to the claimed task, where the engine's method was given the task as its owner has it. */
  claimant?: ClaimToken | undefined
}

interface ChangeDefinition<Id extends string, S extends Shape> {
  id: Id
  description: string
  /** What it takes beside the task's id and its expected version. */
  input: S
  /** False: models neither get nor call it. Default true. */
  models?: boolean
  /** Ids of further tasks that the input names. Default: none. */
  others?(input: Input<S>): readonly string[]
  /** The step gives the task as it wrote it, and that is the answer: by the time of another read it may have another owner. */
  answersWritten?: true
  /** The step that makes the change. That the caller may touch the task, and its version, are judged in the same transaction. */
  step(input: Input<S>, ctx: StepContext, context: ChangeContext): Step<unknown>
}

/** What the engine's methods need of a change. */
export interface Changing<I> {
  /** Queues the step before it returns: of two changes that are asked for in one turn, the first is made first. */
  change(context: ChangeContext, input: I & Subject, ctx: StepContext): Promise<Task>
}

/** On the bus it answers how the task stands then; `change` resolves to the task itself. */
export function taskChange<const Id extends string, S extends Shape>(definition: ChangeDefinition<Id, S>) {
  const { id, description, models = true, others = () => [] } = definition
  const input = z.strictObject({ ...verbShape, ...definition.input }) as unknown as InputSchema<S>

  async function change(context: ChangeContext, given: Input<S>, ctx: StepContext): Promise<Task> {
    const step = definition.step(given, requestedBy(ctx, context.caller), context)
    const written = await applyTo(context, subjectOf(given), step, others(given))
    if (definition.answersWritten) return (await context.host.views([written as TaskRecord]))[0] as Task
    return context.host.view(subjectOf(given).taskId)
  }

  const ability = (host: AbilityHost) =>
    defineAbility({
      id,
      access: 'control',
      description,
      input,
      output: standingSchema,
      models,
      scope: (given) => [subjectOf(given).taskId, ...others(given as Input<S>)],
      handle: async (given, { caller }) =>
        memoryScopeOf(await change({ host, caller }, given as Input<S>, await host.stepContext())),
    })
  return Object.assign(ability, { change })
}

/** Runs a step on a task that this caller may touch, if the task has the expected version. `others`: what it names beside. */
export function applyTo<R>(
  { host, caller }: ChangeContext,
  { taskId, expectedVersion }: Subject,
  step: Step<R>,
  others: readonly string[] = [],
): Promise<R> {
  return host.step(within(expecting(step, taskId, expectedVersion), caller.taskId ?? null, [taskId, ...others]))
}

function subjectOf(input: unknown): Subject {
  return input as Subject
}
