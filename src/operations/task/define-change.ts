// Defines the operations that change one task: as an operation of the bus, and as the function behind the engine's method of the same name.
import { z } from 'zod'
import type { Access, Caller } from '../../bus/caller.ts'
import { once } from '../../core/once.ts'
import type { Task, TaskRecord } from '../../entities/task.ts'
import type { Step } from '../../ledger/ledger.ts'
import type { ClaimToken } from '../../machines/ownership.ts'
import type { AbilityHost } from '../ability-host.ts'
import { defineOperation, type OperationRoute, type OperationVerb } from '../define-operation.ts'
import { matchingOutside } from '../steps/answer-schema.ts'
import { expecting, within } from '../steps/conditions.ts'
import { requestedBy, type StepContext } from '../steps/step-context.ts'
import { standingOf, taskStateSchema, verbShape } from './task-input.ts'

/** The task that a change is about, and its expected version. */
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
  /** The claimant, if the engine's method was called on a claimed task. */
  claimant?: ClaimToken | undefined
}

interface ChangeDefinition<Id extends string, S extends Shape> {
  id: Id
  description: string
  routes?: readonly OperationRoute[]
  verb?: OperationVerb
  /** Makes the input fields in addition to the task's id and expected version. */
  input: () => S
  /** Fields that the engine's method takes as arguments after the task, in order; the others are its options. Default: none. */
  args?: ReadonlyArray<keyof S & string>
  /** Default `control`. */
  access?: Access
  /** False: the ability is not offered to models and refuses them. Default true. */
  models?: boolean
  /** Ids of further tasks that the input names. Default: none. */
  others?(input: Input<S>): readonly string[]
  /** Answer with the task as the step wrote it, because it may have another owner by the time of a second read. */
  answersWritten?: true
  /** The step that makes the change. The right to access the task, and its version, are validated in the same transaction. */
  step(input: Input<S>, ctx: StepContext, context: ChangeContext): Step<unknown>
}

/** The part of a change that the engine's method of its name uses. */
export interface Changing {
  readonly method: string
  readonly args: readonly string[]
  /** Whether the arguments name further tasks: by id or as objects, one or several. */
  readonly takesTasks: boolean
  /** The fields that are arguments, and those that are options; undefined if there are none. */
  readonly argFields: () => z.ZodType<object>
  readonly optionFields: () => z.ZodType<object> | undefined
  /** Queues the step before it returns, so that changes requested in one turn are made in order. */
  change(context: ChangeContext, input: object & Subject, ctx: StepContext): Promise<Task>
}

/** On the bus it answers with the new status of the task; `change` resolves to the task itself. */
export function taskChange<const Id extends string, S extends Shape>(definition: ChangeDefinition<Id, S>) {
  const { id, description, routes, verb, access = 'control', args = [], models = true, others = () => [] } = definition
  async function change(context: ChangeContext, given: Input<S>, ctx: StepContext): Promise<Task> {
    const step = definition.step(given, requestedBy(ctx, context.caller), context)
    const written = await applyTo(context, subjectOf(given), step, others(given))
    if (definition.answersWritten) return (await context.host.views([written as TaskRecord]))[0] as Task
    return context.host.view(subjectOf(given).taskId)
  }

  const operation = defineOperation({
    id,
    access,
    description,
    routes,
    verb,
    input: () => z.strictObject({ ...verbShape, ...definition.input() }) as unknown as InputSchema<S>,
    output: () => taskStateSchema,
    models,
    own: true,
    scope: (given) => [subjectOf(given).taskId, ...others(given as Input<S>)],
    handle: async (given, { caller }, host) =>
      standingOf(await change({ host, caller }, given as Input<S>, await host.stepContext())),
  })
  const isArg: ReadonlySet<string> = new Set(args)
  const changing = {
    method: id.slice(id.indexOf(':') + 1),
    args,
    takesTasks: definition.others !== undefined,
    argFields: once(() => z.strictObject(fieldsAmong(definition.input(), (name) => isArg.has(name)))),
    optionFields: once(() => {
      const options = fieldsAmong(definition.input(), (name) => !isArg.has(name))
      return Object.keys(options).length === 0 ? undefined : z.strictObject(options)
    }),
    change,
  }
  return Object.assign(operation, changing as unknown as Changing)
}

/**
 * Runs a step on a task that this caller may access, if the task has the expected version.
 * @param others further tasks that the input names.
 */
export function applyTo<R>(
  { host, caller }: ChangeContext,
  { taskId, expectedVersion }: Subject,
  step: Step<R>,
  others: readonly string[] = [],
): Promise<R> {
  const judged = within(expecting(step, taskId, expectedVersion), caller, [taskId, ...others])
  return matchingOutside((wakes) => (wakes ? host.wakingStep(judged) : host.step(judged)))
}

function subjectOf(input: unknown): Subject {
  return input as Subject
}

function fieldsAmong(shape: Shape, isWanted: (name: string) => boolean): Shape {
  return Object.fromEntries(Object.entries(shape).filter(([name]) => isWanted(name)))
}
