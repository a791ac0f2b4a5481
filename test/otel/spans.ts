// What the tests of errand/otel share: spans as plain objects, in memory or in a file that outlives its process.
import { AsyncLocalStorage } from 'node:async_hooks'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { type Context, type ContextManager, context, ROOT_CONTEXT } from '@opentelemetry/api'
import { BasicTracerProvider, type ReadableSpan, type SpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { Telemetry } from '../../src/entities/telemetry.ts'
import { otel } from '../../src/otel/otel.ts'

export interface SeenSpan {
  name: string
  kind: number
  traceId: string
  id: string
  parentId: string | undefined
  links: string[]
  attributes: Record<string, unknown>
  events: string[]
  /** 0 unset, 2 an error. */
  status: { code: number; message?: string }
}

function seen(span: ReadableSpan): SeenSpan {
  const { name, kind, parentSpanContext, links, attributes, events, status } = span
  const own = span.spanContext()
  return {
    name,
    kind,
    traceId: own.traceId,
    id: own.spanId,
    parentId: parentSpanContext?.spanId,
    links: links.map((link) => link.context.spanId),
    attributes: { ...attributes },
    events: events.map((event) => event.name),
    status,
  }
}

/** A provider that passes on each span in the turn in which it ends. */
export function providerTo(ended: (span: SeenSpan) => void): BasicTracerProvider {
  const processor: SpanProcessor = {
    onStart: () => {},
    onEnd: (span) => ended(seen(span)),
    forceFlush: async () => {},
    shutdown: async () => {},
  }
  return new BasicTracerProvider({ spanProcessors: [processor] })
}

/** Appends each span to a file when it ends. `late`, the planted fault: a turn of the event loop after it should. */
export function telemetryTo(file: string, { late = false } = {}): Telemetry {
  const write = (span: SeenSpan): void => appendFileSync(file, `${JSON.stringify(span)}\n`)
  const provider = providerTo(late ? (span) => void setImmediate(() => setImmediate(() => write(span))) : write)
  return otel({ tracerProvider: provider })
}

export function spansIn(file: string): SeenSpan[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as SeenSpan)
}

/** As an SDK for Node registers one: the active context follows asynchronous code. */
export function followAsyncCode(): () => void {
  const store = new AsyncLocalStorage<Context>()
  const manager: ContextManager = {
    active: () => store.getStore() ?? ROOT_CONTEXT,
    with: (active, fn, self, ...args) => store.run(active, () => fn.apply(self, args) as ReturnType<typeof fn>),
    bind: (_context, target) => target,
    enable: () => manager,
    disable: () => manager,
  }
  context.setGlobalContextManager(manager)
  return () => context.disable()
}
