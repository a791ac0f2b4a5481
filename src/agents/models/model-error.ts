// One set of codes for everything that can go wrong with a model of any provider: what the retry policy, agents and
// people must distinguish. Providers' errors are recognized by their shape, so none of their packages is imported.
import { type Clock, systemClock } from '../../core/clock.ts'
import { ErrandError, Failure } from '../../core/errors.ts'
import { storedWith } from '../../core/stored-error.ts'
import type { LanguageModelLike } from './language-model.ts'
import { clean, type ProviderError, quote, readProviderError, retryAfter, rootOf } from './provider-error.ts'
import type { ModelAnswer } from './step-schema.ts'

/**
 * - `aborted`: our own signal ended the step.
 * - `auth`: the credentials were refused (401, 403) or are missing.
 * - `rate_limited`: 429; `retryAfterMs` is the delay that the provider requests.
 * - `context_overflow`: the conversation is longer than the context of the model.
 * - `upstream`: the provider failed (5xx, an error event in the stream).
 * - `connection`: no connection, or it was lost before the answer was complete.
 * - `protocol`: the answer violates the protocol, or the provider does not accept the request.
 */
export type ModelErrorCode =
  | 'aborted'
  | 'auth'
  | 'rate_limited'
  | 'context_overflow'
  | 'upstream'
  | 'connection'
  | 'protocol'

/** The codes for which a retry may help, for `retry.on`. A failure that is final nevertheless has `retry: false`. */
export const retryableModelCodes = ['rate_limited', 'upstream', 'connection', 'protocol'] as const

/** The answer received before the step failed. */
export type PartialAnswer = Pick<ModelAnswer, 'content' | 'toolCalls'>

/** Details of a model's failure, without headers, keys or bodies. */
export interface ModelFailureDetails {
  /** HTTP status; null without one. */
  status: number | null
  provider: string
  modelId: string
  partial: PartialAnswer
}

/** The stream ended without a sign that the answer is complete. */
export class UnfinishedStream extends Error {
  override readonly name = 'UnfinishedStream'
}

/** An error that the provider put into its stream. */
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
  /** Used for a `retry-after` date. Default: the system's. */
  clock?: Clock
}

/** Converts what a model threw, or put into its stream as an error, into the `Failure` that ends the step. */
export function toModelFailure(thrown: unknown, step: FailedStep): Failure {
  const { model, signal, partial } = step
  // Checked first: an abort may surface as an HTTP error with status 200.
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

function aborted(signal: AbortSignal): Verdict {
  const { reason } = signal as { reason: unknown }
  const why = reason instanceof Error ? reason.message : typeof reason === 'string' ? reason : ''
  return { code: 'aborted', message: `the step was aborted${why ? `: ${clean(why)}` : ''}.`, retry: false }
}

function judge(thrown: unknown, clock: Clock): Verdict {
  // A model implemented by the embedder may throw our errors.
  if (thrown instanceof Failure) return thrown
  if (ErrandError.isInstance(thrown)) return { code: 'protocol', message: thrown.message, retry: false }
  if (thrown instanceof UnfinishedStream) return { code: 'protocol', message: clean(thrown.message), retry: true }
  const isReported = thrown instanceof ReportedError
  const error = readProviderError(isReported ? thrown.reported : thrown)
  return judgeStatus(error, clock) ?? judgeText(error) ?? judgeKind(error, isReported)
}

function judgeStatus(error: ProviderError, clock: Clock): Verdict | undefined {
  const { status } = error
  if (status === undefined || status < 400) return undefined
  const retryAfterMs = retryAfter(error.headers, clock)
  const quoted = quote(error.message)
  if (status === 401 || status === 403) return { ...refusedCredentials(`HTTP ${status}`), status }
  if (isOverflow(error, status)) return { ...overflow(quoted), status }
  if (status === 429 || isRateLimit(error)) return { ...rateLimited(error, quoted), status, retryAfterMs }
  if (status >= 500 || status === 408 || status === 409) {
    return {
      code: 'upstream',
      message: `the provider failed (HTTP ${status})${quoted}.`,
      retry: true,
      status,
      retryAfterMs,
    }
  }
  return {
    code: 'protocol',
    message: `the provider does not accept the request (HTTP ${status})${quoted}. Repeating it unchanged would not help.`,
    retry: false,
    status,
  }
}

/** An error event in the stream has no status; its codes and texts are used instead. */
function judgeText(error: ProviderError): Verdict | undefined {
  if (isOverflow(error, undefined)) return overflow(quote(error.message))
  if (/authentication_error|invalid_api_key|permission_error/.test(error.codes))
    return refusedCredentials('in the stream')
  if (isRateLimit(error)) return rateLimited(error, quote(error.message))
  return undefined
}

function judgeKind(error: ProviderError, isReported: boolean): Verdict {
  const quoted = quote(error.message)
  if (/LoadAPIKeyError/.test(error.name)) return { code: 'auth', message: 'its API key is not set.', retry: false }
  if (/JSONParseError|TypeValidationError/.test(error.name)) {
    const what = error.misfit === '' ? '' : `: ${clean(error.misfit)}`
    return { code: 'protocol', message: `the stream holds something that is not the protocol${what}.`, retry: false }
  }
  if (/without a finish reason/i.test(error.message)) {
    return { code: 'protocol', message: 'the stream ended without a finish reason.', retry: true }
  }
  if (isConnection(error)) return { code: 'connection', message: `the connection failed${quoted}.`, retry: true }
  if (isReported || error.isRetryable === true) {
    return { code: 'upstream', message: `the provider reported an error${quoted}.`, retry: true }
  }
  return { code: 'protocol', message: `the step failed${quoted}.`, retry: false }
}

function refusedCredentials(where: string): Verdict {
  // The text of the provider may quote a part of the key, so it is left out.
  return { code: 'auth', message: `the provider refused the credentials (${where}). Check the API key.`, retry: false }
}

function overflow(quoted: string): Verdict {
  return { code: 'context_overflow', message: `the conversation is too long for the model${quoted}.`, retry: false }
}

/** Waiting does not restore an exhausted quota. */
function rateLimited(error: ProviderError, quoted: string): Verdict {
  const isFinal = /insufficient_quota|billing/.test(error.codes)
  return { code: 'rate_limited', message: `the provider limits the rate of requests${quoted}.`, retry: !isFinal }
}

const overflowText =
  /context[ _-]?(length|window|size)|token count.{0,30}exceeds|maximum context|too many tokens|(prompt|input|request|messages?) (is|are|too|exceeds).{0,40}(long|large|token|context)|exceed_context_size/i

function isOverflow(error: ProviderError, status: number | undefined): boolean {
  if (/context_length_exceeded|exceed_context_size/.test(error.codes)) return true
  if (isRateLimit(error) || (status !== undefined && status !== 400 && status !== 413 && status !== 422)) return false
  return status === 413 || overflowText.test(`${error.message} ${error.body}`)
}

function isRateLimit(error: ProviderError): boolean {
  return /rate_limit|too_many_requests|insufficient_quota/.test(error.codes)
}

const connectionText =
  /E(CONN(REFUSED|RESET|ABORTED)|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|NOTFOUND|AI_AGAIN)|UND_ERR_|fetch failed|terminated|other side closed|socket|cannot connect|failed to process successful response/i

/** An abort that is not ours is the provider's own time limit. */
function isConnection(error: ProviderError): boolean {
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return true
  if (/EmptyResponseBodyError/.test(error.name)) return true
  return connectionText.test(`${error.message} ${error.causes}`)
}
