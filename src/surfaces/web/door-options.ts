// What a server over HTTP may be told of who comes in, and where it listens: the same words on every surface.
import { z } from 'zod'
import { type Clock, systemClock } from '../../clock.ts'

/** Who is let in by what their request says of where it goes, and from which page it comes. */
export interface DoorOptions {
  /**
   * Values of the `Host` header that are served, port included (`example.org`, `127.0.0.1:8080`). Default: the loopback names, at
   * any port where the port is not known.
   */
  allowedHosts?: readonly string[] | undefined
  /** Origins of web pages that may call, like `https://example.org`. Default: none but that of the host itself. */
  allowedOrigins?: readonly string[] | undefined
}

export interface PlaceOptions {
  /** The address to listen at. Default 127.0.0.1. Any that is not loopback needs a token, or `authenticate`. */
  host?: string | undefined
  /** Default 0: a free one. */
  port?: number | undefined
}

export const milliseconds = z
  .number()
  .positive()
  .max(2 ** 31 - 1)

export const clockSchema = z
  .custom<Clock>((value) => typeof (value as Clock | null)?.now === 'function', 'expected a clock with `now`')
  .default(() => systemClock)

export const onErrorSchema = functionOf<(error: unknown) => void>('(error)').default(() => () => {})

export function functionOf<F>(shape: string) {
  return z.custom<F>((value) => typeof value === 'function', `expected a function ${shape}`)
}

export const tokenSchema = z.custom<string | false>(
  (value) => value === false || (typeof value === 'string' && /^[\x21-\x7e]{32,}$/.test(value)),
  'expected at least 32 printable characters without spaces, or `false` to let everybody call',
)

/** Hosts are compared as they are written, in lower case, port included; absent: those of loopback. */
export const doorShape = {
  allowedHosts: z.array(z.string().trim().toLowerCase().min(1).max(300)).max(100).optional(),
  allowedOrigins: z
    .array(
      z
        .string()
        .refine((text) => URL.canParse(text) && new URL(text).origin === text, 'expected an origin: https://name'),
    )
    .max(100)
    .default([]),
}

/** 0: a free port. */
export const placeShape = {
  host: z.string().trim().min(1).max(255).default('127.0.0.1'),
  port: z.int().min(0).max(65_535).default(0),
}
