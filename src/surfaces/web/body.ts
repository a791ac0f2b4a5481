// Reads the JSON body of a request within limits: on bytes, nesting and keys per object.

import { ErrandError } from '../../core/errors.ts'
import { faultIn } from '../../core/input-gate.ts'
import { parseJson } from '../../core/json-text.ts'
import { startOf } from '../../core/storable-text.ts'
import { bodyTaken, type ServedRequest } from './served-request.ts'

/** Default limit for the size of a body, in bytes. */
export const maxBodyBytes = 1024 * 1024
/**
 * Maximum number of keys in one object of a body. One object of 125,000 keys, which is a megabyte, keeps a schema busy for one to two seconds;
 * the same keys in objects of a thousand take a tenth to a third of that.
 */
const maxKeys = 1_000

export type JsonBody = { json: unknown } | { refused: 400 | 413 | 415; why: string }

/**
 * Reads at most `limitBytes` of the body and parses it as JSON. A body whose `Content-Length` exceeds the limit is not read at all. An
 * empty body is refused as invalid JSON, and a compressed one with 415.
 */
export async function readJsonBody(
  request: Pick<ServedRequest, 'headers' | 'bytes'>,
  limitBytes: number = maxBodyBytes,
): Promise<JsonBody> {
  const read = await readTextBody(request, limitBytes)
  if (typeof read !== 'string') return read
  try {
    const json = parseJson(read)
    const fault = faultIn(json, maxKeys)
    // Texts are judged where their schema is known, which may mend them.
    if (fault === undefined || fault.isText) return { json }
    return { refused: 400, why: `The body is not accepted: ${fault.what}.` }
  } catch (error) {
    const why = ErrandError.isInstance(error)
      ? `The body is not accepted: ${error.message}.`
      : 'The body is not valid JSON.'
    return { refused: 400, why }
  }
}

/** Why a body could not be read, for the client. */
export function unreadable(error: unknown): string {
  return error instanceof Error && error.message === bodyTaken ? bodyTaken : 'The body could not be read.'
}

type Unread = Exclude<JsonBody, { json: unknown }>

const codes = { 400: 'INVALID_INPUT', 413: 'BODY_TOO_LARGE', 415: 'UNSUPPORTED_MEDIA_TYPE' } as const

/** The code of the error with which a body is refused. */
export function codeOfRefusedBody({ refused }: Unread): (typeof codes)[Unread['refused']] {
  return codes[refused]
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Reads at most `limitBytes` of the body as text. */
export async function readTextBody(
  request: Pick<ServedRequest, 'headers' | 'bytes'>,
  limitBytes: number,
): Promise<string | Unread> {
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() ?? ''
  if (encoding !== '' && encoding !== 'identity') {
    const why = `The body is encoded (Content-Encoding: ${startOf(encoding, 100)}). Send it without encoding.`
    return { refused: 415, why }
  }
  const tooLarge: Unread = { refused: 413, why: `The body is larger than ${limitBytes} bytes.` }
  if (Number(request.headers.get('content-length') ?? 0) > limitBytes) return tooLarge
  try {
    const bytes = await request.bytes(limitBytes)
    return bytes === undefined ? tooLarge : decoder.decode(bytes)
  } catch (error) {
    return { refused: 400, why: unreadable(error) }
  }
}
