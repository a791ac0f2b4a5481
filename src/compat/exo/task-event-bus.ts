// Exo's event bus: publish and subscribe within the process. Independent of an engine; a manager forwards the engine's events to it.
import { z } from 'zod'
import { guarded } from '../../core/guarded.ts'
import { parse, requireFunction, requireText } from '../../core/parse.ts'
import { describeError } from '../../core/stored-error.ts'
import type { EventType } from '../../entities/event.ts'
import { withExoErrorsSync } from './task-error.ts'

/** An event of the bus. */
export interface TaskEvent {
  /** `task.created`, `task.started`, `task.paused`, … */
  event_type: string
  task_id: string
  /** From a manager: always with the task's `name` and `status` after the event; otherwise as emitted. */
  data: Record<string, unknown>
  /** Epoch milliseconds. */
  timestamp: number
}

/** The types that a manager forwards; the bus accepts any others as well. */
export type TaskEventType = Extract<EventType, `task.${string}`>

/** Awaited; its return value is ignored. */
export type TaskEventHandler = (event: TaskEvent) => unknown

export interface TaskEventBusOptions {
  /** Receives the errors of handlers. Default: `console.error`. */
  onError?: (error: unknown, event: TaskEvent) => void
}

const busOptionsSchema = z.strictObject({
  onError: z
    .custom<(error: unknown, event: TaskEvent) => void>(
      (value) => typeof value === 'function',
      'expected a function (error, event)',
    )
    .optional(),
})

const eventSchema = z.strictObject({
  event_type: z
    .string()
    .min(1)
    .refine((type) => type !== '*', '"*" is only for subscribers: an event has one type'),
  task_id: z.string(),
  data: z.record(z.string(), z.unknown()),
  timestamp: z.number(),
})

/**
 * Publishes and subscribes within the process.
 *
 * @example
 * const eventBus = new TaskEventBus()
 * eventBus.subscribe('task.completed', async (event) => console.log(event.data.name))
 * const manager = new TaskManager({ eventBus })
 */
export class TaskEventBus {
  readonly #onError: TaskEventBusOptions['onError']
  #subscriptions: ReadonlyArray<{ eventType: string; handler: TaskEventHandler }> = []

  /** @throws TaskError UNKNOWN_OPTION, INVALID_INPUT. */
  constructor(options: TaskEventBusOptions = {}) {
    this.#onError = withExoErrorsSync(() => parse(busOptionsSchema, options, 'new TaskEventBus')).onError
  }

  /**
   * Subscribes a handler to a type, or with `*` to all. A handler that subscribes several times is called as often.
   * @throws TaskError INVALID_INPUT for a type that is not a string, or a handler that is not a function.
   */
  subscribe(eventType: TaskEventType | '*' | (string & {}), handler: TaskEventHandler): void {
    withExoErrorsSync(() => {
      requireText(eventType, 'the event type')
      requireFunction(handler, 'the handler of subscribe')
    })
    this.#subscriptions = [...this.#subscriptions, { eventType, handler }]
  }

  /** Removes the earliest matching subscription, if there is one. */
  unsubscribe(eventType: TaskEventType | '*' | (string & {}), handler: TaskEventHandler): void {
    const found = this.#subscriptions.find((each) => each.eventType === eventType && each.handler === handler)
    this.#subscriptions = this.#subscriptions.filter((each) => each !== found)
  }

  /**
   * Calls the handlers of the type and those of `*` in the order of their subscription, awaiting each before the next.
   *
   * The error of a handler is reported and does not stop the others. A handler that is unsubscribed meanwhile is not called; a new one
   * receives the next event. Each handler gets its own copy.
   * @throws TaskError INVALID_INPUT for an invalid event.
   */
  async emit(event: TaskEvent): Promise<void> {
    const checked = withExoErrorsSync(() => parse(eventSchema, event, 'emit'))
    for (const subscription of this.#subscriptions) {
      if (subscription.eventType !== '*' && subscription.eventType !== checked.event_type) continue
      if (!this.#subscriptions.includes(subscription)) continue
      try {
        await subscription.handler({ ...checked, data: { ...checked.data } })
      } catch (error) {
        this.#report(error, checked)
      }
    }
  }

  #report(error: unknown, event: TaskEvent): void {
    const print = (): void => console.error('errand: a handler of the event bus threw', describeError(error), event)
    const onError = this.#onError
    if (onError === undefined) {
      print()
      return
    }
    guarded(
      () => onError(error, event),
      (thrown) => {
        // An error of the reporter must not hide the reported one.
        console.error('errand: onError of the event bus threw', describeError(thrown))
        print()
      },
    )
  }
}
