// The handlers that a task is created with: its own, else those of its executor, else those of the engine.
import { parse } from '../../core/parse.ts'
import { type AnyExecutor, isExecutor } from '../../entities/executor.ts'
import { type HandledEvent, type HandlerTemplate, handledEvents } from '../../entities/handler.ts'
import { type ChildSpec, createSpecSchema } from '../../entities/options.ts'
import type { TaskPolicy } from '../../entities/task.ts'
import type { TaskDraft } from './draft.ts'

/** The options that hold templates, by the event. */
const optionOf = { failure: 'onFailure', inputRequired: 'onInputRequired' } as const
type Templates = { [O in (typeof optionOf)[HandledEvent]]?: HandlerTemplate | null | undefined }

/** Drafts the handlers of tasks. Those of executors and of the engine are drafted once. */
export class HandlerDrafts {
  readonly #engine: Templates
  readonly #executors: ReadonlyMap<string, AnyExecutor>
  readonly #draft: (spec: ChildSpec) => TaskDraft
  readonly #drafted = new Map<HandlerTemplate, TaskDraft>()

  constructor(engine: Templates, executors: ReadonlyMap<string, AnyExecutor>, draft: (spec: ChildSpec) => TaskDraft) {
    this.#engine = engine
    this.#executors = executors
    this.#draft = draft
  }

  /** Null in `spec`: no handler, whatever the executor and the engine have. */
  of(spec: Templates, executor: string | null): Pick<TaskPolicy, 'handlers'> {
    const known = executor === null ? undefined : this.#executors.get(executor)
    const ofExecutor: Templates = isExecutor(known) ? known : {}
    const handlers: Record<string, TaskDraft> = {}
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

  #ofProgram(template: HandlerTemplate, option: string): TaskDraft {
    let draft = this.#drafted.get(template)
    if (draft === undefined) {
      draft = { ...this.#draftOf(template, option), byProgram: true }
      this.#drafted.set(template, draft)
    }
    return draft
  }

  #draftOf(template: HandlerTemplate, option: string): TaskDraft {
    return this.#draft(parse(createSpecSchema, template as never, option) as ChildSpec)
  }
}

/** A handler has none. */
export const noHandlers: Pick<HandlerDrafts, 'of'> = { of: () => ({}) }

/** The draft, with its handlers changed as it is itself. Those of the program stay. */
export function withHandlers(draft: TaskDraft, change: (draft: TaskDraft) => TaskDraft): TaskDraft {
  const { handlers } = draft.policy
  const changed = change(draft)
  if (handlers === undefined) return changed
  const entries = Object.entries(handlers as Record<string, TaskDraft>).map(
    ([event, handler]) => [event, handler.byProgram ? handler : change(handler)] as const,
  )
  return { ...changed, policy: { ...changed.policy, handlers: Object.fromEntries(entries) } }
}
