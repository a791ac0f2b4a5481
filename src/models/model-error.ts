// One word for everything that can go wrong with a model, whichever provider it is: what the retry policy, the agent and
// people need to tell apart. Providers' errors are known by their shape, so no package of theirs is imported.
import { type Clock, systemClock } from '../core/clock.ts'
import { ErrandError, Failure } from '../core/errors.ts'
import { storedWith } from '../core/stored-error.ts'
import type { LanguageModelLike } from './language-model.ts'
import type { ModelAnswer } from './step-schema.ts'

/**
 * - `aborted`: our own signal ended the step.
 * - `auth`: the credentials were refused (401, 403) or are missing.
 * - `rate_limited`: 429; `retryAfterMs` is what the provider asked for.
 * - `context_overflow`: the conversation is longer than the model can read.
 * - `upstream`: the provider failed (5xx, an error event in the stream).
 * - `connection`: no connection, or it was lost before the answer was complete.
 * - `protocol`: the answer is not what the protocol says, or the provider does not accept the request.
 */
export type ModelErrorCode =
  | 'aborted'
  | 'auth'
  | 'rate_limited'
  | 'context_overflow'
  | 'upstream'
  | 'connection'
  | 'protocol'

/** The codes that may pass when tried again: for `retry.on`. A failure that is final all the same says `retry: false`. */
export const retryableModelCodes = ['rate_limited', 'upstream', 'connection', 'protocol'] as const

/** The longest rest that a provider may ask for, in milliseconds: one hour. */
const maxRetryAfterMs = 60 * 60 * 1000

/** What the model had said when the step failed. */
export type PartialAnswer = Pick<ModelAnswer, 'content' | 'toolCalls'>

/** Details of a model's failure: no headers, no keys, no bodies. */
export interface ModelFailureDetails {
  /** HTTP status; null when there was none. */
  status: number | null
  provider: string
  modelId: string
  partial: PartialAnswer
}

/** The stream ended, and nothing said that the answer is complete. */
export class UnfinishedStream extends Error {
  override readonly name = 'UnfinishedStream'
}

/** What the provider put into its stream as an error. */
export class ReportedError extends Error {
  override readonly name = 'ReportedError'
  readonly reported: unknown

  constructor(reported: unknown) {
    super('The provider reported an error.')
    this.reported = reported
  }
}

export interface FailedStep {
  model: LanguageModelLike
  signal: AbortSignal
  partial: PartialAnswer
  /** For a `retry-after` that is a date. Default: the system's. */
  clock?: Clock
}

/** Whatever a model threw, or put into its stream as an error, as the `Failure` that the step ends with. */
export function toModelFailure(thrown: unknown, step: FailedStep): Failure {
  const { model, signal, partial } = step
  // First of all: an abort may come back as an HTTP error with status 200.
  const verdict = signal.aborted ? aborted(signal) : judge(rootOf(thrown), step.clock ?? systemClock)
  const details: ModelFailureDetails = {
    status: verdict.status ?? null,
    provider: model.provider,
    modelId: model.modelId,
    partial: { content: partial.content, toolCalls: [...partial.toolCalls] },
  }
  const failure = new Failure(`${model.provider}/${model.modelId}: ${verdict.message}`, {
    code: verdict.code,
    retry: verdict.retry,
    ...(verdict.retryAfterMs === undefined ? {} : { retryAfterMs: verdict.retryAfterMs }),
    details,
    cause: thrown,
  })
  return storedWith(failure, { withoutCause: true })
}

interface Verdict {
  code: string
  message: string
  retry: boolean
  status?: number | undefined
  retryAfterMs?: number | undefined
}

/** The parts of a provider's error that say something, whatever its class. */
interface ProviderError {
  name: string
  message: string
  /** Machine words of the provider: `insufficient_quota context_length_exceeded`. */
  words: string
  status: number | undefined
  headers: Record<string, string>
  /** For recognising only, never for showing. */
  body: string
  isRetryable: boolean | undefined
  causes: string
}

function aborted(signal: AbortSignal): Verdict {
  const { reason } = signal as { reason: unknown }
  const why = reason instanceof Error ? reason.message : typeof reason === 'string' ? reason : ''
  return { code: 'aborted', message: `the step was aborted${why ? `: ${clean(why)}` : ''}.`, retry: false }
}

function judge(thrown: unknown, clock: Clock): Verdict {
  // A model of the embedder's own may throw in our terms.
  if (thrown instanceof Failure) return thrown
  if (ErrandError.isInstance(thrown)) return { code: 'protocol', message: thrown.message, retry: false }
  if (thrown instanceof UnfinishedStream) return { code: 'protocol', message: clean(thrown.message), retry: true }
  const isReported = thrown instanceof ReportedError
  const error = read(isReported ? thrown.reported : thrown)
  return judgeStatus(error, clock) ?? judgeText(error) ?? judgeKind(error, isReported)
}

function judgeStatus(error: ProviderError, clock: Clock): Verdict | undefined {
  const { status } = error
  if (status === undefined || status < 400) return undefined
  const retryAfterMs = retryAfter(error.headers, clock)
  const said = quote(error.message)
  if (status === 401 || status === 403) return { ...refusedCredentials(`HTTP ${status}`), status }
  if (isOverflow(error, status)) return { ...overflow(said), status }
  if (status === 429 || isRateLimit(error)) return { ...rateLimited(error, said), status, retryAfterMs }
  if (status >= 500 || status === 408 || status === 409) {
    return {
      code: 'upstream',
      message: `the provider failed (HTTP ${status})${said}.`,
      retry: true,
      status,
      retryAfterMs,
    }
  }
  return {
    code: 'protocol',
    message: `the provider does not accept the request (HTTP ${status})${said}. Repeating it unchanged would not help.`,
    retry: false,
    status,
  }
}

/** An error event in the stream has no status; the provider's own words tell. */
function judgeText(error: ProviderError): Verdict | undefined {
  if (isOverflow(error, undefined)) return overflow(quote(error.message))
  if (/authentication_error|invalid_api_key|permission_error/.test(error.words))
    return refusedCredentials('in the stream')
  if (isRateLimit(error)) return rateLimited(error, quote(error.message))
  return undefined
}

function judgeKind(error: ProviderError, isReported: boolean): Verdict {
  const said = quote(error.message)
  if (/LoadAPIKeyError/.test(error.name)) return { code: 'auth', message: 'its API key is not set.', retry: false }
  if (/JSONParseError|TypeValidationError/.test(error.name)) {
    return { code: 'protocol', message: 'the stream holds something that is not the protocol.', retry: false }
  }
  if (/without a finish reason/i.test(error.message)) {
    return { code: 'protocol', message: 'the stream ended without a finish reason.', retry: true }
  }
  if (isConnection(error)) return { code: 'connection', message: `the connection failed${said}.`, retry: true }
  if (isReported || error.isRetryable === true) {
    return { code: 'upstream', message: `the provider reported an error${said}.`, retry: true }
  }
  return { code: 'protocol', message: `the step failed${said}.`, retry: false }
}

function refusedCredentials(where: string): Verdict {
  // What the provider says here may quote a part of the key.
  return { code: 'auth', message: `the provider refused the credentials (${where}). Check the API key.`, retry: false }
}

function overflow(said: string): Verdict {
  return { code: 'context_overflow', message: `the conversation is too long for the model${said}.`, retry: false }
}

/** A quota that is used up does not come back by waiting a little. */
function rateLimited(error: ProviderError, said: string): Verdict {
  const isFinal = /insufficient_quota|billing/.test(error.words)
  return { code: 'rate_limited', message: `the provider limits the rate of requests${said}.`, retry: !isFinal }
}

const overflowText =
  /context[ _-]?(length|window|size)|maximum context|too many tokens|(prompt|input|request|messages?) (is|are|too|exceeds).{0,40}(long|large|token|context)|exceed_context_size/i

function isOverflow(error: ProviderError, status: number | undefined): boolean {
  if (/context_length_exceeded|exceed_context_size/.test(error.words)) return true
  if (isRateLimit(error) || (status !== undefined && status !== 400 && status !== 413 && status !== 422)) return false
  return status === 413 || overflowText.test(`${error.message} ${error.body}`)
}

function isRateLimit(error: ProviderError): boolean {
  return /rate_limit|too_many_requests|insufficient_quota/.test(error.words)
}

const connectionText =
  /E(CONN(REFUSED|RESET|ABORTED)|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|NOTFOUND|AI_AGAIN)|UND_ERR_|fetch failed|terminated|other side closed|socket|cannot connect|failed to process successful response/i

/** An abort that is not ours is the provider's own time limit. */
function isConnection(error: ProviderError): boolean {
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return true
  if (/EmptyResponseBodyError/.test(error.name)) return true
  return connectionText.test(`${error.message} ${error.causes}`)
}

/** A wrapper that tried several times carries what happened last. */
function rootOf(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || !/RetryError/.test(thrown.name)) return thrown
  return (thrown as { lastError?: unknown }).lastError ?? thrown
}

function read(thrown: unknown): ProviderError {
  const error = record(thrown)
  const nested = record(record(error['data'])['error'])
  return {
    name: thrown instanceof Error ? thrown.name : '',
    message: text(thrown) || text(error['message']),
    words: [error['code'], error['type'], nested['code'], nested['type']]
      .filter((word) => typeof word === 'string')
      .join(' '),
    status: status(error['statusCode']) ?? status(error['status']),
    headers: lowerCased(error['responseHeaders']),
    body: text(error['responseBody']).slice(0, 10_000),
    isRetryable: typeof error['isRetryable'] === 'boolean' ? error['isRetryable'] : undefined,
    causes: causesOf(error['cause']),
  }
}

function causesOf(cause: unknown, depth = 0): string {
  if (typeof cause !== 'object' || cause === null || depth === 5) return ''
  const { code, message, cause: next } = cause as Record<string, unknown>
  return `${text(code)} ${text(message)} ${causesOf(next, depth + 1)}`
}

/**
 * How long the provider asks to wait, in milliseconds: `retry-after-ms`, else `retry-after` in seconds or as a date, at
 * most `maxRetryAfterMs`. Undefined when it does not say.
 */
function retryAfter(headers: Record<string, string>, clock: Clock): number | undefined {
  const inMs = number(headers['retry-after-ms'])
  const inSeconds = number(headers['retry-after'])
  const asked = inMs ?? (inSeconds === undefined ? untilDate(headers, clock) : inSeconds * 1000)
  return asked === undefined ? undefined : Math.min(Math.max(0, Math.ceil(asked)), maxRetryAfterMs)
}

/** Measured against the provider's own `date` where it gives one, so that a wrong clock on either side does no harm. */
function untilDate(headers: Record<string, string>, clock: Clock): number | undefined {
  const until = Date.parse(headers['retry-after'] ?? '')
  if (Number.isNaN(until)) return undefined
  const now = Date.parse(headers['date'] ?? '')
  return until - (Number.isNaN(now) ? clock.now() : now)
}

function lowerCased(headers: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(record(headers)).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name.toLowerCase(), value]] : [],
    ),
  )
}

function quote(message: string): string {
  const said = clean(message)
  return said === '' ? '' : `: ${said.replace(/[.\s]+$/, '')}`
}

const secret =
  /\b(bearer|basic)\s+[^\s"',;]+|\b(sk|pk|rk|gsk|xai|hf|key|tok)[-_][A-Za-z0-9*_-]{6,}|([?&](api[-_]?)?key=)[^&\s"']+/gi

/** A provider's text on one line, without what looks like a key. */
function clean(message: string): string {
  return message
    .replace(secret, '[hidden]')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, 500)
}

function number(value: string | undefined): number | undefined {
  if (value === undefined || value.trim() === '') return undefined
  const parsed = Number(value)
  return Number.isFinite(parsed) ? parsed : undefined
}

function status(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 100 && value < 600 ? value : undefined
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
