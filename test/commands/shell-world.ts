import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { processGroupOf } from '../../src/commands/process-group.ts'
import { systemProcessTable } from '../../src/commands/process-table.ts'
import { createShell, type ShellInput, type ShellOptions, type ShellResult } from '../../src/commands/shell.ts'
import { Failure } from '../../src/core/errors.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import type { EmitOptions } from '../../src/entities/output.ts'
import type { Task } from '../../src/entities/task.ts'

export const onLinux = process.platform === 'linux'
export const root = join(import.meta.dirname, '../..')

interface World extends ShellOptions {
  dependencies?: Array<{ name: string; result: unknown }>
  note?: (details: unknown) => Promise<void>
  emit?: (text: string) => void
}

/** A run that makes every call at once, and a folder for the test. */
export function setup(world: World = {}) {
  const { dependencies = [], note, emit, ...options } = world
  const folder = mkdtempSync(join(tmpdir(), 'errand-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const controller = new AbortController()
  const calls: Array<{ name: string; params: unknown; options: unknown }> = []
  const notes: unknown[] = []
  const emitted: Array<EmitOptions & { text: string }> = []
  const context = {
    callId: `call-${process.pid}-${folder.slice(-6)}`,
    signal: controller.signal,
    note: async (details: unknown) => {
      await note?.(details)
      notes.push(details)
    },
  }
  const run = {
    dependencies: async () => dependencies as Task[],
    emit: (text: string, options: EmitOptions = {}) => {
      emit?.(text)
      emitted.push({ text, ...options })
    },
    call: async (
      name: string,
      params: unknown,
      fn: (params: unknown, context: unknown) => unknown,
      callOptions?: unknown,
    ) => {
      calls.push({ name, params, options: callOptions })
      return fn(params, context)
    },
  } as unknown as Run
  const executor = createShell({ killGraceMs: 5000, ...options })
  const execute = (input: ShellInput | string) => {
    const parsed = executor.input?.parse(typeof input === 'string' ? { run: input, shell: '/bin/sh' } : input)
    return executor.run({ id: 'task-1', input: parsed } as ExecutorTask, run) as Promise<ShellResult>
  }
  const text = () => emitted.map((one) => one.text).join('')
  return { folder, controller, calls, notes, emitted, context, execute, text, group: () => processGroupOf(notes[0])! }
}

export async function failureOf(promise: Promise<unknown>): Promise<Failure> {
  const thrown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(thrown).toBeInstanceOf(Failure)
  return thrown as Failure
}

/** The process may end between the listing and the reading. */
export function statOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return ''
  }
}

export async function isRunning(pid: number): Promise<boolean> {
  const entry = await systemProcessTable.get(pid)
  return entry !== undefined && !entry.zombie
}

/** Starts a session of its own like a daemon, which writes its pid into a file and holds no output open. */
export function daemon(path: string): string {
  return `setsid sh -c 'echo $$ > ${path}; exec sleep 1000' >/dev/null 2>&1 </dev/null`
}
