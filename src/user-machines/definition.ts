// A definition as a run uses it: what is named in it, what its present states accept, and what they ask.
import type { AnyStateMachine } from 'xstate'
import { Failure } from '../core/errors.ts'
import { issuesIn, issueText, safeParse } from '../core/parse.ts'
import type { CallOptions } from '../entities/call-options.ts'
import type { MachineState } from '../entities/machine.ts'
import type { AnswerSchema } from '../entities/wait-options.ts'
import type { MachineQuestion } from '../operations/machine-run.ts'
import { type AskMeta, askMetaSchema } from './ask-meta.ts'
import { inlineActions } from './inline-actions.ts'
import { kindOfLogic } from './logic-kind.ts'
import { type MachineScope, snapshotOf } from './macrostep.ts'
import { logicNamed } from './stand-ins.ts'

type Action = (given: object, params: unknown) => unknown

export class Definition {
  readonly machine: AnyStateMachine
  readonly version: string | null
  /** From the machine of the executor to this one. */
  readonly path: readonly string[]
  readonly inlineNames: ReadonlyMap<unknown, string>
  readonly #calls: Readonly<Record<string, CallOptions>>
  readonly #inline: ReadonlyMap<string, Action>
  readonly #kinds = new Map<string, ReturnType<typeof kindOfLogic>>()
  readonly #inner = new Map<string, Definition>()

  constructor(
    machine: AnyStateMachine,
    version: string | null,
    calls: Readonly<Record<string, CallOptions>>,
    path: readonly string[] = [],
  ) {
    this.machine = machine
    this.version = version
    this.path = path
    this.#calls = calls
    this.inlineNames = inlineActions(machine)
    this.#inline = new Map([...this.inlineNames].map(([action, name]) => [name, action as Action]))
  }

  /** The definition of an actor that is a machine. @throws Failure INVALID_RESULT for one that is not there any more */
  at(path: readonly string[]): Definition {
    const [src, ...rest] = path
    if (src === undefined) return this
    let inner = this.#inner.get(src)
    if (inner === undefined) {
      const logic = logicNamed(this.machine, src)
      if (kindOfLogic(logic) !== 'machine') throw missing(`the machine of the actor "${src}"`)
      inner = new Definition(logic as AnyStateMachine, this.version, this.#calls, [...this.path, src])
      this.#inner.set(src, inner)
    }
    return inner.at(rest)
  }

  /** Of a named actor or action. */
  callOptions(name: string): CallOptions | undefined {
    return Object.hasOwn(this.#calls, name) ? this.#calls[name] : undefined
  }

  kindOf(src: string): ReturnType<typeof kindOfLogic> {
    const kind = this.#kinds.get(src) ?? kindOfLogic(logicNamed(this.machine, src))
    this.#kinds.set(src, kind)
    return kind
  }

  /** @throws Failure INVALID_RESULT for one that is not there any more */
  action(name: string): Action {
    const named = (this.machine.implementations.actions as Record<string, Action | undefined>)[name]
    const action = named ?? this.#inline.get(name)
    if (action === undefined) throw missing(`the action "${name}"`)
    return action
  }

  /** What a situation accepts and asks. `isAsked`: its question still stands. */
  shown(
    scope: MachineScope,
    state: MachineState,
  ): { accepts: string[]; isAsked: boolean; question: MachineQuestion | null } {
    if (state.status === 'done') return { accepts: [], isAsked: false, question: null }
    const snapshot = snapshotOf(scope, state)
    const nodes = snapshot._nodes as Array<{ ownEvents: string[] }>
    const accepts = [...new Set(nodes.flatMap(({ ownEvents }) => ownEvents))].filter(
      (event) => event !== '' && !event.startsWith('xstate.'),
    )
    const metas = snapshot.getMeta() as Record<string, { ask?: AskMeta } | undefined>
    if (state.ask !== undefined && metas[state.ask.state]?.ask !== undefined) {
      return { accepts, isAsked: true, question: null }
    }
    const [asking] = Object.entries(metas).filter(([, meta]) => meta?.ask !== undefined)
    if (asking === undefined) return { accepts, isAsked: false, question: null }
    const [stateId, meta] = asking
    const { question, schema, event, for: audience } = askOf(meta, stateId)
    const text = typeof question === 'function' ? question({ context: snapshot.context as never }) : question
    return {
      accepts,
      isAsked: false,
      question: {
        state: stateId,
        event,
        question: text,
        schema: (schema ?? null) as AnswerSchema | null,
        for: audience,
      },
    }
  }
}

function askOf(meta: { ask?: unknown } | undefined, stateId: string): AskMeta {
  const parsed = safeParse(askMetaSchema, meta?.ask)
  if (parsed.success) return parsed.data
  throw new Failure(`\`meta.ask\` of the state "${stateId}" is not valid: ${issueText(issuesIn(parsed.error))}.`, {
    code: 'INVALID_RESULT',
    retry: false,
  })
}

function missing(what: string): Failure {
  return new Failure(
    `The definition does not have ${what} any more, which the machine needs to go on. Add it again, and retry the task.`,
    { code: 'INVALID_RESULT', retry: false },
  )
}
