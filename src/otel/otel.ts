// Traces of an engine with OpenTelemetry: a span for each run, and below it one for each call and for each step of a model that it executes. What
// a later run finds in the journal did not happen again, and has no span. The package `@opentelemetry/api` is an optional peer: the program chooses
// the SDK, and without one nothing is recorded.
import {
  type Attributes,
  type Context,
  context,
  diag,
  INVALID_SPAN_CONTEXT,
  isSpanContextValid,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  type TracerProvider,
  trace,
} from '@opentelemetry/api'
import { z } from 'zod'
import { omitUndefined } from '../core/omit-undefined.ts'
import { parse } from '../core/parse.ts'
import type {
  CallEndFacts,
  CallFacts,
  ModelEndFacts,
  ModelFacts,
  RunEndFacts,
  RunFacts,
  RunTrace,
  Telemetry,
  TracedError,
  WaitKind,
  WorkTrace,
} from '../entities/telemetry.ts'
import { names, providerName } from './conventions.ts'

export type { Telemetry } from '../entities/telemetry.ts'

export interface OtelOptions {
  /** Default: the global provider, which an SDK registers. */
  tracerProvider?: TracerProvider
  /**
   * Whether spans contain content: inputs and results of runs and calls, messages of models, texts of errors, each as it is stored in the ledger.
   * Default false.
   */
  content?: boolean
}

const optionsSchema = z.strictObject({
  tracerProvider: z
    .custom<TracerProvider>(
      (value) => typeof (value as TracerProvider | null)?.getTracer === 'function',
      'expected a tracer provider with `getTracer`',
    )
    .optional(),
  content: z.boolean().default(false),
})

/**
 * Makes the option `telemetry` of `createEngine`. Spans follow the GenAI semantic conventions: `invoke_agent {executor}` for a run, in a trace of
 * its own that is linked to the span that created the task; below it `execute_tool {name}` for a call and `chat {model}` for a step of a model. A
 * failure of the SDK is passed to the `diag` logger of OpenTelemetry, and changes nothing for the task.
 *
 * @example
 * const engine = await createEngine({ ledger: 'tasks.db', executors, telemetry: otel() })
 *
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT
 */
export function otel(options: OtelOptions = {}): Telemetry {
  const { tracerProvider, content } = parse(optionsSchema, options, 'otel')
  const tracer = (): Tracer => (tracerProvider ?? trace.getTracerProvider()).getTracer('errand')
  return {
    current: () => quietly(() => traceparentOf(trace.getSpanContext(context.active())), undefined),
    run: (facts) => {
      const run = new TracedRun(tracer(), content, facts)
      // Without an SDK, spans have no ids, and nothing below them would be recorded.
      return isSpanContextValid(run.span.spanContext()) ? run : untraced
    },
  }
}

/** Calls the API; what it throws is for the operator of the SDK. */
function quietly<R>(work: () => R, otherwise: R): R {
  try {
    return work()
  } catch (error) {
    diag.error('errand: a span could not be recorded', error)
    return otherwise
  }
}

const untraced: RunTrace = {
  within: (work) => work(),
  end: () => {},
  call: () => untraced,
  model: () => untraced,
  waits: () => {},
}

class Traced<End extends { error?: TracedError }> implements WorkTrace<End> {
  readonly span: Span
  readonly context: Context
  readonly #attributesOf: (end: End, span: Span) => Attributes
  readonly #content: boolean
  #isOver = false

  constructor(
    start: () => Span,
    parent: Context,
    content: boolean,
    attributesOf: (end: End, span: Span) => Attributes,
  ) {
    this.span = quietly(start, trace.wrapSpanContext(INVALID_SPAN_CONTEXT))
    this.context = trace.setSpan(parent, this.span)
    this.#content = content
    this.#attributesOf = attributesOf
  }

  within<R>(work: () => R): R {
    return context.with(this.context, work)
  }

  end(end: End): void {
    if (this.#isOver) return
    this.#isOver = true
    const { error } = end
    quietly(() => {
      this.span.setAttributes(this.#attributesOf(end, this.span))
      if (error !== undefined) {
        this.span.setAttribute(names.errorType, error.code)
        this.span.setStatus({ code: SpanStatusCode.ERROR, ...(this.#content ? { message: error.message } : {}) })
      }
      this.span.end()
    }, undefined)
  }
}

class TracedRun extends Traced<RunEndFacts> implements RunTrace {
  readonly #tracer: Tracer
  readonly #content: boolean

  constructor(tracer: Tracer, content: boolean, facts: RunFacts) {
    const { taskId, rootId, executor, attempt, run, createdIn, input } = facts
    const attributes = {
      [names.operation]: 'invoke_agent',
      [names.agent]: executor,
      [names.conversation]: rootId,
      [names.taskId]: taskId,
      [names.attempt]: attempt,
      [names.run]: run,
      ...(content ? messagesAs(names.inputMessages, 'user', input) : {}),
    }
    const start = (): Span =>
      tracer.startSpan(`invoke_agent ${executor}`, { root: true, links: linksTo(createdIn), attributes }, ROOT_CONTEXT)
    super(start, ROOT_CONTEXT, content, ({ outcome, result }) => ({
      [names.outcome]: outcome,
      ...(content && result !== undefined ? messagesAs(names.outputMessages, 'assistant', result) : {}),
    }))
    this.#tracer = tracer
    this.#content = content
  }

  /** Of a call inside another one, or inside a span of the program, that is the parent. Without a context manager, it is the run. */
  get #parent(): Context {
    const active = context.active()
    return trace.getSpan(active) === undefined ? this.context : active
  }

  call({ callId, name, params }: CallFacts): WorkTrace<CallEndFacts> {
    const parent = this.#parent
    const content = this.#content
    const attributes = {
      [names.operation]: 'execute_tool',
      [names.toolName]: name,
      [names.toolType]: 'function',
      [names.toolCallId]: callId,
      [names.callId]: callId,
      ...(content ? { [names.toolArguments]: JSON.stringify(params) } : {}),
    }
    const start = (): Span =>
      this.#tracer.startSpan(`execute_tool ${name}`, { kind: SpanKind.INTERNAL, attributes }, parent)
    return new Traced<CallEndFacts>(start, parent, content, ({ result }) =>
      content && result !== undefined ? { [names.toolResult]: JSON.stringify(result) } : {},
    )
  }

  model({ provider, modelId, messages }: ModelFacts): WorkTrace<ModelEndFacts> {
    const parent = this.#parent
    const content = this.#content
    const attributes = omitUndefined({
      [names.operation]: 'chat',
      [names.requestModel]: modelId,
      [names.provider]: provider === undefined ? undefined : providerName(provider),
      [names.inputMessages]: content
        ? JSON.stringify(messages.map((message) => messageAs(message.role, message.content)))
        : undefined,
    }) as Attributes
    const start = (): Span =>
      this.#tracer.startSpan(`chat ${modelId ?? ''}`.trim(), { kind: SpanKind.CLIENT, attributes }, parent)
    return new Traced<ModelEndFacts>(start, parent, content, (end, span) => {
      if (modelId === undefined && end.modelId !== undefined) span.updateName(`chat ${end.modelId}`)
      return omitUndefined({
        [names.responseModel]: end.modelId,
        [names.finishReasons]: end.finishReason === undefined ? undefined : [end.finishReason],
        [names.inputTokens]: end.usage?.inputTokens ?? undefined,
        [names.outputTokens]: end.usage?.outputTokens ?? undefined,
        [names.outputMessages]:
          content && end.content !== undefined ? JSON.stringify([messageAs('assistant', end.content)]) : undefined,
      }) as Attributes
    })
  }

  waits(kind: WaitKind, callId: string): void {
    quietly(() => void this.span.addEvent(`errand.${kind}`, { [names.callId]: callId }), undefined)
  }
}

function messageAs(role: string, content: string): object {
  return { role, parts: [{ type: 'text', content }] }
}

function messagesAs(name: string, role: string, value: unknown): Attributes {
  return { [name]: JSON.stringify([messageAs(role, typeof value === 'string' ? value : JSON.stringify(value))]) }
}

// The header `traceparent` of W3C Trace Context, version 00.

function traceparentOf(found: SpanContext | undefined): string | undefined {
  if (found === undefined || !isSpanContextValid(found)) return undefined
  return `00-${found.traceId}-${found.spanId}-${found.traceFlags.toString(16).padStart(2, '0')}`
}

function linksTo(traceparent: string | undefined): Link[] {
  const parts = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent ?? '')
  if (parts === null) return []
  const [, traceId = '', spanId = '', flags = ''] = parts
  return [{ context: { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true } }]
}
