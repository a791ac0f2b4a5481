// What happens to a stored situation when the code has changed: it is migrated, and if it names what the definition does not have any more,
// the task is held with a question.
import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate'
import { z } from 'zod'
import { Failure } from '../core/errors.ts'
import { once } from '../core/once.ts'
import { issuesIn, issueText, safeParse } from '../core/parse.ts'
import type { Run } from '../entities/executor.ts'
import { type MachineState, machineStateSchema } from '../entities/machine.ts'
import type { Definition } from './definition.ts'
import { imageOf } from './machine-json.ts'
import { logicNamed } from './stand-ins.ts'

/** The parts of a stored situation that a change of the code concerns. */
export type StoredMachine = Pick<MachineState, 'value' | 'context' | 'history' | 'actors' | 'timers' | 'effects'>

/** @param fromVersion the `version` of the definition that stored it; null for one without */
export type MigrateMachine = (
  stored: StoredMachine,
  fromVersion: string | null,
) => StoredMachine | Promise<StoredMachine>

/** How long a task waits until it looks again whether its engine has the code that it needs: doubled each time, up to an hour. */
const firstWaitMs = 60_000
const maxWaitMs = 3_600_000

/** Where a run goes on: in a stored situation, or by entering a state in its place. */
export interface GoingOn {
  state: MachineState
  enter?: string
}

/** Where the definition goes on from. Asks a person when it does not know the stored situation. @throws Failure when the answer is to fail */
export async function fittingState(
  definition: Definition,
  migrate: MigrateMachine | undefined,
  stored: MachineState,
  run: Run,
): Promise<GoingOn> {
  const state = await migrated(definition, migrate, stored)
  const missing = missingFrom(definition.machine, state)
  if (missing.length === 0) return { state }
  const states = allStates(definition.machine)
  const key = `machine:${stored.step}:${definition.version}`
  for (let round = 0; ; round++) {
    const answer = await run.ask<{ goto: string } | { fail: true } | { wait: true }>(
      questionOf(definition, stored, missing),
      {
        anyOf: [
          objectWith('goto', { type: 'string', enum: states }),
          objectWith('fail', { const: true }),
          objectWith('wait', { const: true }),
        ],
      },
      { key },
    )
    if ('goto' in answer) return { state, enter: answer.goto }
    if ('fail' in answer)
      throw new Failure(`${sentence(missing)} A person has chosen to fail the task.`, {
        code: 'INVALID_RESULT',
        retry: false,
      })
    await run.sleep(Math.min(firstWaitMs * 2 ** round, maxWaitMs), { key: `${key}:${round}` })
  }
}

async function migrated(
  { version }: Definition,
  migrate: MigrateMachine | undefined,
  stored: MachineState,
): Promise<MachineState> {
  if (stored.definition === version) return stored
  if (migrate === undefined) return { ...stored, definition: version }
  const { value, context, history, actors, timers, effects } = structuredClone(stored)
  const made = await migrate({ value, context, history, actors, timers, effects }, stored.definition)
  const parsed = safeParse(storedMachineSchema(), imageOf(made, 'what `migrate` returns', 'stored'))
  if (parsed.success) return { ...stored, ...(parsed.data as StoredMachine), definition: version }
  throw new Failure(
    `What \`migrate\` returns is no situation of a machine: ${issueText(issuesIn(parsed.error).slice(0, 3))}. Return what it is given, with what the present code needs changed.`,
    { code: 'INVALID_RESULT', retry: false },
  )
}

const storedMachineSchema = once(() =>
  machineStateSchema()
    .pick({ value: true, context: true, history: true, actors: true, timers: true, effects: true })
    .extend({ value: z.union([z.string(), z.record(z.string(), z.unknown())]) }),
)

function objectWith(key: string, property: object): object {
  return { type: 'object', properties: { [key]: property }, required: [key], additionalProperties: false }
}

function questionOf({ machine, version }: Definition, stored: MachineState, missing: readonly string[]): string {
  const from =
    stored.definition === null
      ? ''
      : ` It was stored by version ${stored.definition}${version === null ? '' : `, and this is version ${version}`}.`
  return `${sentence(missing)} The machine "${machine.id}" is in ${JSON.stringify(stored.value)}.${from} Answer {"goto": STATE} to go on in a state of the present code, {"fail": true} to fail the task, or {"wait": true} to keep it for an engine with the old code.`
}

const sentence = (missing: readonly string[]): string =>
  `The definition of the machine has changed: it does not have ${missing.join(', ')} any more.`

/** The names in a situation that a definition does not have. */
export function missingFrom(machine: AnyStateMachine, state: MachineState): string[] {
  const missing: string[] = []
  const has = (id: string): boolean => {
    try {
      machine.getStateNodeById(id)
      return true
    } catch {
      return false
    }
  }
  let snapshot: AnyMachineSnapshot | undefined
  try {
    snapshot = machine.resolveState({
      value: state.value as never,
      context: {} as never,
    }) as unknown as AnyMachineSnapshot
  } catch {
    missing.push(`the state ${JSON.stringify(state.value)}`)
  }
  for (const id of Object.values(state.history).flat()) if (!has(id)) missing.push(`the state ${id}`)
  for (const { src, ended } of Object.values(state.actors)) {
    if (!ended && !hasLogic(machine, src)) missing.push(`the actor "${src}"`)
  }
  const { actions } = machine.implementations as { actions: Record<string, unknown> }
  for (const effect of state.effects) {
    if ('action' in effect && actions[effect.action] === undefined && !effect.action.includes(':'))
      missing.push(`the action "${effect.action}"`)
  }
  const handled = new Set(
    ((snapshot?._nodes ?? []) as Array<{ ownEvents: string[] }>).flatMap(({ ownEvents }) => ownEvents),
  )
  for (const { event, to } of snapshot === undefined ? [] : state.timers) {
    if (event.type.startsWith('xstate.after.') && to === undefined && !handled.has(event.type))
      missing.push(`the delay of "${event.type}"`)
  }
  return missing
}

function hasLogic(machine: AnyStateMachine, src: string): boolean {
  try {
    return logicNamed(machine, src) !== undefined
  } catch {
    return false
  }
}

function allStates(machine: AnyStateMachine): string[] {
  return Object.keys(machine.states)
}
