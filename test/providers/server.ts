// A loopback server of a provider: it refuses what the real one refuses, and streams what the real one streams.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Refuses the request with the message of the provider. */
export class Refused extends Error {
  override readonly name = 'Refused'
}

export interface Provider {
  /** How many answers of the model the request contains. @throws Refused for a request that breaks the rules of the provider. */
  answersIn(body: any): number
  /** The events of the stream. */
  answer(answers: number): Array<{ event?: string; data: unknown }>
}

export interface ProviderServer extends AsyncDisposable {
  url: string
  /** The number of answers in each request, in order. */
  readonly asked: number[]
  readonly refused: string[]
  /** Called with the number of answers before a request is answered. */
  beforeAnswer: (answers: number) => void
}

export async function serveProvider(provider: Provider): Promise<ProviderServer> {
  const asked: number[] = []
  const refused: string[] = []
  const served = { url: '', asked, refused, beforeAnswer: (_answers: number) => {} }
  const server = createServer((request, response) => {
    void textOf(request).then((text) => {
      try {
        const answers = provider.answersIn(JSON.parse(text))
        asked.push(answers)
        served.beforeAnswer(answers)
        stream(response, provider.answer(answers))
      } catch (error) {
        refused.push((error as Error).message)
        response.writeHead(400, { 'content-type': 'application/json' })
        response.end(
          JSON.stringify({
            type: 'error',
            error: { type: 'invalid_request_error', message: (error as Error).message },
          }),
        )
      }
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  served.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
  }
  return Object.assign(served, { [Symbol.asyncDispose]: close })
}

function stream(response: ServerResponse, events: ReturnType<Provider['answer']>): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const { event, data } of events) {
    response.write(
      `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`,
    )
  }
  response.end()
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const part of request) text += String(part)
  return text
}
