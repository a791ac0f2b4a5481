// What a run of a machine is to a test, whatever runs it: it is started, gets events and time, and shows after each what can be compared.

import type { AnyStateMachine, EventObject } from 'xstate'

/** An event (a text is one without a payload), or milliseconds that pass. */
export type ScriptEntry = string | number | (EventObject & { [key: string]: unknown })
export type Script = readonly ScriptEntry[]

/** A machine with what happens to it. */
export interface Shape {
  name: string
  machine: AnyStateMachine
  input?: unknown
  script: Script
}

/** What can be seen of a machine at rest; JSON. A reference to an actor in the context is `{ $actor: id }`. */
export interface View {
  status: string
  /** Null when the machine failed before it had a state. */
  value: unknown
  context: unknown
  /** Null without one. */
  output: unknown
  /** The message; null without an error. */
  error: string | null
  /** The sorted ids of the children that are active; none once the machine has ended. */
  children: string[]
  /** The named custom actions that ran since the view before, in order. Those of a child have the name of its logic in front. */
  actions: string[]
  /** The events that the machine emitted since the view before. */
  emitted: unknown[]
}

/** Each method resolves when the machine rests: nothing goes on in it until it gets an event or time. */
export interface MachineRunner {
  start(): Promise<View>
  send(event: EventObject): Promise<View>
  advance(ms: number): Promise<View>
  end(): Promise<void>
}

/** The views after the start and after each entry. */
export async function viewsOf(runner: MachineRunner, script: Script): Promise<View[]> {
  try {
    const views = [await runner.start()]
    for (const entry of script) views.push(await play(runner, entry))
    return views
  } finally {
    await runner.end()
  }
}

export async function play(runner: MachineRunner, entry: ScriptEntry): Promise<View> {
  if (typeof entry === 'number') return await runner.advance(entry)
  return await runner.send(typeof entry === 'string' ? { type: entry } : entry)
}

/** As JSON keeps it; null for what JSON has not. A reference to an actor becomes `{ $actor: id }`. */
export function asJson(value: unknown): unknown {
  const text = JSON.stringify(value, (_key, each) => (isMarked(each) ? { $actor: each.id } : each))
  return text === undefined ? null : JSON.parse(text)
}

/** What an actor of XState is in JSON. */
function isMarked(value: unknown): value is { id: string } {
  return typeof value === 'object' && value !== null && 'xstate$$type' in value && value.xstate$$type === 1
}
