// What a server over HTTP may be told of who comes in, and where it listens: the same words on every surface.
import { z } from 'zod'

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
