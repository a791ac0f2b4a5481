// The handlers that a task is created with: its own, else those of its executor, else those of the engine.
import { parse } from '../../core/parse.ts'
import { type AnyExecutor, isExecutor } from '../../entities/executor.ts'
import { type HandledEvent, type HandlerTemplate, handledEvents } from '../../entities/handler.ts'
import { type ChildSpec, createSpecSchema } from '../../entities/options.ts'
import type { TaskPolicy } from '../../entities/task.ts'

/** The options that hold templates, by the event. */
const optionOf = { failure: 'onFailure', inputRequired: 'onInputRequired' } as const
type Templates = { [O in (typeof optionOf)[HandledEvent]]?: HandlerTemplate | null | undefined }

/** What is needed of a draft. */
interface Draft {
  policy: TaskPolicy
  /** The program has given it to an executor or the engine. */
  byProgram?: true
}

/** Drafts the handlers of tasks. Those of executors and of the engine are drafted once. */
export class HandlerDrafts<D extends Draft> {
  readonly #engine: Templates
  readonly #executors: ReadonlyMap<string, AnyExecutor>
  readonly #draft: (spec: ChildSpec) => D
  readonly #drafted = new Map<HandlerTemplate, D>()

  constructor(engine: Templates, executors: ReadonlyMap<string, AnyExecutor>, draft: (spec: ChildSpec) => D) {
    this.#engine = engine
    this.#executors = executors
    this.#draft = draft
  }

  /** Null in `spec`: no handler, whatever the executor and the engine have. */
  of(spec: Templates, executor: string | null): Pick<TaskPolicy, 'handlers'> {
    const known = executor === null ? undefined : this.#executors.get(executor)
    const ofExecutor: Templates = isExecutor(known) ? known : {}
    const handlers: Record<string, D> = {}
    for (const event of handledEvents) {
      const option = optionOf[event]
      const given = spec[option]
      if (given === null) continue
      const program = ofExecutor[option] ?? this.#engine[option]
      if (given !== undefined) handlers[event] = this.#draftOf(given, option)
      else if (program != null) handlers[event] = this.#ofProgram(program, option)
    }
    return Object.keys(handlers).length === 0 ? {} : { handlers }
  }

  /** Drafts those of executors and of the engine. @throws ErrandError like `create` for a faulty template. */
  draftAll(): void {
    for (const executor of [null, ...this.#executors.keys()]) this.of({}, executor)
  }

  #ofProgram(template: HandlerTemplate, option: string): D {
    let draft = this.#drafted.get(template)
    if (draft === undefined) {
      draft = { ...this.#draftOf(template, option), byProgram: true }
      this.#drafted.set(template, draft)
    }
    return draft
  }

  #draftOf(template: HandlerTemplate, option: string): D {
    return this.#draft(parse(createSpecSchema, template as never, option) as ChildSpec)
  }
}

/** A handler has none. */
export const noHandlers: Pick<HandlerDrafts<never>, 'of'> = { of: () => ({}) }

/** The draft, with its handlers changed as it is itself. Those of the program stay. */
export function withHandlers<D extends Draft>(draft: D, change: (draft: D) => D): D {
  const { handlers } = draft.policy
  const changed = change(draft)
  if (handlers === undefined) return changed
  const entries = Object.entries(handlers as Record<string, D>).map(
    ([event, handler]) => [event, handler.byProgram ? handler : change(handler)] as const,
  )
  return { ...changed, policy: { ...changed.policy, handlers: Object.fromEntries(entries) } }
}
