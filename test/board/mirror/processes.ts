// Mirrors and editors in processes of their own: started with their orders, read line by line, and always ended.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { programOf } from '../../programs.ts'

export type Line = Record<string, any>

export function startProcess(script: string, orders: object) {
  const path = programOf(import.meta.dirname, script)
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', path, JSON.stringify(orders)], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let complaints = ''
  child.stderr.on('data', (chunk: Buffer) => {
    complaints += chunk.toString()
  })
  child.stdin.on('error', () => {})
  const lines: Line[] = []
  const listeners = new Set<() => void>()
  const output = createInterface({ input: child.stdout })
  output.on('line', (text) => {
    lines.push(JSON.parse(text) as Line)
    for (const listen of listeners) listen()
  })
  const drained = new Promise<void>((resolve) => output.once('close', () => resolve()))
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null; complaints: string }>((resolve) =>
    child.once('exit', (code, signal) => void drained.then(() => resolve({ code, signal, complaints }))),
  )
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  return {
    lines,
    exited,
    /** Ends its input, so that it exits. */
    end: () => child.stdin.end(),
    say: (text: string) => child.stdin.write(`${text}\n`),
    signal: (name: NodeJS.Signals) => child.kill(name),
    received: (fits: (line: Line) => boolean): Promise<Line> =>
      new Promise((resolve, reject) => {
        let next = 0
        const look = () => {
          for (; next < lines.length; next++) {
            if (!fits(lines[next] as Line)) continue
            listeners.delete(look)
            resolve(lines[next] as Line)
            return
          }
        }
        listeners.add(look)
        look()
        void exited.then(({ code, signal }) => reject(new Error(`It ended (${code ?? signal}) unheard: ${complaints}`)))
      }),
  }
}
