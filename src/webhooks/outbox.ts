// The outbox of webhooks is the feed itself: events are written with what they report. For each webhook the ledger holds the position up to
// which its deliveries exist; a step creates those of the next events and moves the position, so each exists once, whatever process dies.
import type { Clock } from '../core/clock.ts'
import { Rounds } from '../core/turns.ts'
import type { TaskEvent } from '../entities/event.ts'
import { deliveryExecutor, type ParsedWebhook, type PostedEvent } from '../entities/webhook-options.ts'
import { type Ledger, type Op, type Step, step, type Tx } from '../ledger/ledger.ts'
import type { Drafter, TaskDraft } from '../operations/drafts/draft.ts'
import type { StepContext } from '../operations/steps/step-context.ts'
import { insertSystemTask } from '../operations/steps/system-task.ts'
import { type DeliveryInput, deliveryId, deliveryMs, deliveryRetry } from './delivery.ts'

/** How many events a step reads. */
const batch = 500
/** The time between two tries after the ledger has failed. */
const againMs = 1_000

export interface OutboxHost {
  readonly ledger: Ledger
  readonly clock: Clock
  readonly feed: { listen(listener: (event: TaskEvent) => void): () => void }
  readonly drafter: Drafter
  stepContext(): StepContext
  report(error: unknown, context: Record<string, unknown>): void
}

export class Outbox {
  readonly #webhooks: readonly ParsedWebhook[]
  readonly #host: OutboxHost
  readonly #rounds = new Rounds(() => this.#round())
  #unlisten: (() => void) | undefined
  #again: unknown
  #failures = 0

  constructor(webhooks: readonly ParsedWebhook[], host: OutboxHost) {
    this.#webhooks = webhooks
    this.#host = host
  }

  /** What was written before, by engines that have died since, comes first. */
  start(): void {
    this.#unlisten = this.#host.feed.listen((event) => {
      if (this.#webhooks.some((webhook) => isPosted(event, webhook))) void this.#rounds.ask()
    })
    void this.#rounds.ask()
  }

  stop(): void {
    this.#unlisten?.()
    this.#unlisten = undefined
    this.#host.clock.clearTimeout(this.#again)
  }

  /** Resolves when the deliveries of what has been published exist, unless the ledger fails. */
  async settled(): Promise<void> {
    await this.#rounds.pending
  }

  /** After a failure the next event, or the timer, begins another round: nothing is lost, because the position has not moved. */
  async #round(): Promise<void> {
    const { ledger, report, clock } = this.#host
    try {
      for (const webhook of this.#webhooks) {
        let more = true
        while (more && this.#unlisten !== undefined) more = await ledger.step(this.#next(webhook))
      }
      this.#failures = 0
    } catch (error) {
      if (this.#unlisten === undefined) return
      // Of two engines on one server that create the same deliveries, one is refused, and finds the position moved when it tries again.
      if (++this.#failures > 1) report(error, { doing: 'create deliveries of webhooks' })
      this.#again = clock.setTimeout(() => void this.#rounds.ask(), againMs)
    }
  }

  #next(webhook: ParsedWebhook): Step<boolean> {
    const ctx = this.#host.stepContext()
    const [draft] = this.#host.drafter.draft(
      {
        executor: deliveryExecutor,
        name: deliveryExecutor,
        retry: deliveryRetry,
        input: sampleInput,
        autoStart: true,
        onFailure: null,
        onInputRequired: null,
      },
      'webhooks',
    )
    return step('create deliveries', (tx) => createDeliveries(tx, webhook, draft as TaskDraft, ctx))
  }
}

/** Passes the schema of the executor until the real one takes its place. */
const sampleInput: DeliveryInput = { webhook: '', event: { seq: 0, type: '', at: 0, taskId: '', data: {} } }

/** Returns whether there may be more events. */
function* createDeliveries(tx: Tx, webhook: ParsedWebhook, draft: TaskDraft, ctx: StepContext): Op<boolean> {
  const setting = `webhook:${webhook.name}`
  const position = yield* tx.setting.get(setting)
  // A new webhook begins with what happens from now on.
  if (typeof position !== 'number') {
    yield* tx.setting.put(setting, yield* tx.event.last())
    return false
  }
  const { rows: events, isLast } = yield* tx.event.pageAfter(position, batch)
  const last = events.at(-1)
  if (last === undefined) return false
  const wanted = events.filter((event) => isPosted(event, webhook) && event.at + deliveryMs > ctx.at)
  for (const event of wanted) yield* insertSystemTask(tx, deliveryOf(event, webhook, draft), { posts: event.seq }, ctx)
  // What is of no interest is read again with the next event rather than written about each time.
  if (wanted.length > 0 || !isLast) yield* tx.setting.put(setting, last.seq)
  return !isLast
}

function deliveryOf(event: TaskEvent, { name }: ParsedWebhook, draft: TaskDraft): TaskDraft {
  const { seq, type, at, taskId, data } = event
  const input: DeliveryInput = { webhook: name, event: { seq, type, at, taskId, data } }
  return {
    ...draft,
    id: deliveryId(name, seq),
    name: `${type} to ${name}`,
    input,
    deadline: at + deliveryMs,
  }
}

/** Deliveries and handlers raise no further ones. */
function isPosted({ type, data }: TaskEvent, { events }: ParsedWebhook): boolean {
  if (data['system'] === true || (type === 'task.failed' && data['willRetry'] === true)) return false
  return events.includes(type as PostedEvent)
}
