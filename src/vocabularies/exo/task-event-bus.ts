// Exo's event bus: publish and subscribe within the process. It knows no engine; a manager forwards the engine's events to it.
import { z } from 'zod'
import { parse, requireFunction, requireText } from '../../core/parse.ts'
import { describeError } from '../../core/stored-error.ts'
import type { EventType } from '../../entities/event.ts'
import { withExoErrorsSync } from './task-error.ts'

/** What the bus carries. */
export interface TaskEvent {
  /** `task.created`, `task.started`, `task.paused`, … */
  event_type: string
  task_id: string
  /** From the manager always with the task's `name` and `status` after the event; from elsewhere whatever was emitted. */
  data: Record<string, unknown>
  /** Epoch milliseconds. */
  timestamp: number
}

/** The types that a manager forwards; a bus carries any others as well. */
export type TaskEventType = Extract<EventType, `task.${string}`>

/** Awaited; what it returns is ignored. */
export type TaskEventHandler = (event: TaskEvent) => unknown

export interface TaskEventBusOptions {
  /** Hears what a handler threw. Default: `console.error`. */
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
    .refine((type) => type !== '*', 'an event has one type; "*" is for subscribers'),
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
   * `*` hears every type. The same handler may subscribe more than once and then hears as often.
   * @throws TaskError INVALID_INPUT for a type that is no text, or a handler that is no function.
   */
  subscribe(eventType: TaskEventType | '*' | (string & {}), handler: TaskEventHandler): void {
    withExoErrorsSync(() => {
      requireText(eventType, 'the event type')
      requireFunction(handler, 'the handler of subscribe')
    })
    this.#subscriptions = [...this.#subscriptions, { eventType, handler }]
  }

  /** Undoes the earliest such subscription that is left; without one nothing happens. */
  unsubscribe(eventType: TaskEventType | '*' | (string & {}), handler: TaskEventHandler): void {
    const found = this.#subscriptions.find((each) => each.eventType === eventType && each.handler === handler)
    this.#subscriptions = this.#subscriptions.filter((each) => each !== found)
  }

  /**
   * Tells the handlers of the type, and those of `*`, in the order of their subscription, each awaited before the next.
   *
   * One that throws is reported and stops nobody. Who unsubscribes meanwhile is not told any more, who subscribes hears from
   * the next event on. Each handler gets a copy of its own.
   * @throws TaskError INVALID_INPUT for what is no event.
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
    if (this.#onError !== undefined) {
      try {
        this.#onError(error, event)
        return
      } catch (thrown) {
        // A reporter that throws must not hide what it was to report.
        console.error('errand: onError of the event bus threw', describeError(thrown))
      }
    }
    console.error('errand: a handler of the event bus threw', describeError(error), event)
  }
}
