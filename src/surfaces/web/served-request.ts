// A request as surfaces read it. The listener of node:http makes it without a `Request`, which takes longer to make than most requests
// take to answer.

export interface ServedRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Pick<Headers, 'get' | 'has'>
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
  /** False for a request that cannot have a body. */
  readonly hasBody: boolean
  /** Reads the body, once. Resolves to undefined if it is longer than the limit. @throws Error for a body that cannot be read. */
  bytes(limitBytes: number): Promise<Uint8Array | undefined>
  /** The same request for functions of the program. */
  toRequest(): Request
}

/** The reason of a request whose body other code of the server has read. */
export const bodyTaken =
  'The body could not be read, because the server has read it before. Mount errand before body parsers such as express.json().'

/** A request of a server with `Request` and `Response`. */
export class FetchedRequest implements ServedRequest {
  readonly #request: Request
  #url: URL | undefined

  constructor(request: Request) {
    this.#request = request
  }

  get method(): string {
    return this.#request.method
  }

  get url(): URL {
    this.#url ??= new URL(this.#request.url)
    return this.#url
  }

  get headers(): Headers {
    return this.#request.headers
  }

  get signal(): AbortSignal {
    return this.#request.signal
  }

  get hasBody(): boolean {
    return this.#request.body !== null
  }

  async bytes(limitBytes: number): Promise<Uint8Array | undefined> {
    const { body, bodyUsed } = this.#request
    if (bodyUsed) throw new Error(bodyTaken)
    const chunks: Uint8Array[] = []
    let size = 0
    // Leaving the loop early cancels the stream, so that nothing more of it is read.
    for await (const chunk of body ?? []) {
      size += chunk.byteLength
      if (size > limitBytes) return undefined
      chunks.push(chunk)
    }
    return Buffer.concat(chunks)
  }

  toRequest(): Request {
    return this.#request
  }
}
