// One pass over a mirrored folder: edits of the files are applied to the board, then changes of the board are written to the files. In
// this order, so that no edit is overwritten; files that change during the pass are read again.
import { realpathSync } from 'node:fs'
import { ErrandError } from '../../core/errors.ts'
import { requestedBy } from '../../operations/steps/step-context.ts'
import type { BoardTarget } from '../board-host.ts'
import { numberNewTasks, skipNumbers } from '../numbering.ts'
import { applyEdit } from './apply-edit.ts'
import { acquireLease, type MirrorLease } from './election.ts'
import { affectedFiles, allNumbers, ensureTexts, type WantedFile } from './file-texts.ts'
import { type FolderFiles, inodeIn } from './folder-files.ts'
import { importFiles, type NewFile } from './import-files.ts'
import { type FileVerdict, judgeFile } from './judge-file.ts'
import type { MirrorHost } from './mirror-host.ts'
import { emptyReport, type MirrorReport } from './mirror-report.ts'
import { clearStaging, keepCopy, stagingFolder } from './owned-folder.ts'
import { type FileValue, isMisnamed, maxNewNumber, nameOf, numberIn, versionIn } from './task-file.ts'
import { createStaging, type Staging, takeAway, type WriteMode, writeFile } from './write-file.ts'

/** A file that changed less than this before it was read may change again with the same timestamps, in milliseconds. */
const recentMs = 2_000
/** How long a replaced file is still checked, in milliseconds: a program that had it open may write into it. */
const graceMs = 2_000
/** How long after a foreign replacement of a file further ones are expected, in milliseconds. */
const cautionMs = 600_000
/** How often a pass repeats for files that change meanwhile; the rest is left to the next pass. */
const maxRounds = 8

export interface PassOptions {
  /** The files to check; default: all. */
  numbers?: ReadonlySet<number> | undefined
  /** Tasks that have changed; undefined: write every file that is out of date. */
  tasks?: ReadonlySet<string> | undefined
  /**
   * An unreadable or missing file is left unchanged until a later pass finds it in the same state, because a program may be writing it.
   * Default false: this pass decides.
   */
  deferIncomplete?: boolean
}

interface SeenFile {
  text: string
  /** '' for a file that must be read again. */
  mark: string
}

type EditVerdict = Extract<FileVerdict, { kind: 'edit' }>

/** An edit that the board has refused so far. */
interface RefusedEdit {
  number: number
  state: { text: string; mark: string; changedMs: number }
  verdict: EditVerdict
  why: string
}

interface OldFile {
  name: string
  number: number
  /** Its content when it was replaced; undefined for one left by a dead mirror. */
  known: string | undefined
  until: number
}

export class FolderSync {
  readonly #host: MirrorHost
  readonly #target: BoardTarget
  readonly #lease: MirrorLease
  readonly #files: FolderFiles
  readonly staging: Staging
  /** The content of each file when it was last read or written. */
  #seen = new Map<number, SeenFile>()
  /** The marks of files that are left unchanged, by name. */
  #setAsideMarks = new Map<string, string>()
  /** The marks of files that were unreadable or missing at the last check. */
  #deferred = new Map<number, string>()
  #old: OldFile[] = []
  /** Which files refer to a task, by its number. */
  #mentions = new Map<number, Set<number>>()
  /** The latest applied edit of each file. */
  #taken = new Map<number, { version: number; value: FileValue }>()
  /** The inodes of the files that this mirror has written. */
  #own = new Map<number, string>()
  #cautiousUntil = 0
  #stale = new Set<number>()
  #allStale = true
  #holdsLease = false
  /** True during the first pass with this lease: what it finds is final, not a file that is being written. */
  #isNew = true

  readonly #isLive: boolean

  /** `isLive`: for a mirror that runs on, beside others. */
  constructor(host: MirrorHost, target: BoardTarget, lease: MirrorLease, files: FolderFiles, isLive: boolean) {
    this.#host = host
    this.#target = target
    this.#lease = lease
    this.#files = files
    this.#isLive = isLive
    this.staging = createStaging(files, lease.id, `${stagingFolder}/`)
  }

  async pass({ numbers, tasks, deferIncomplete = false }: PassOptions = {}): Promise<MirrorReport> {
    const report = emptyReport()
    this.#requireFolder()
    if (!(await this.#acquireLease())) return { ...report, standingBy: true }
    await numberNewTasks(this.#host, this.#target.board)
    if (tasks === undefined) this.#markAllStale()
    else await this.#addStale(tasks)
    let changed: ReadonlySet<number> | undefined = this.#isNew ? undefined : numbers
    for (let round = 0; round < maxRounds; round++) {
      await this.#takeOldFiles(report)
      await this.#takeFiles(changed, report, deferIncomplete && !this.#isNew)
      changed = await this.#writeFiles(report)
      if (changed === undefined) return { ...report, standingBy: true }
      if (changed.size === 0 && this.#stale.size === 0) break
    }
    this.#isNew = false
    return report
  }

  /** Checks and removes the old files; writes nothing more. */
  async end(): Promise<MirrorReport> {
    const report = emptyReport()
    for (const old of this.#old) old.until = 0
    if (this.#holdsLease) await this.#takeOldFiles(report)
    return report
  }

  /** Refuses a path that leads elsewhere by now, so that nothing is written there. */
  #requireFolder(): void {
    const { dir } = this.#lease
    let is: string | undefined
    try {
      is = realpathSync(dir)
    } catch {
      // Reported below as missing.
    }
    if (is === dir) return
    throw new ErrandError(
      'INVALID_INPUT',
      `The mirrored folder ${dir} is ${is === undefined ? 'no longer there' : `now a link to ${is}`}.`,
      {
        path: dir,
      },
    )
  }

  async #acquireLease(): Promise<boolean> {
    const lease = await acquireLease(this.#host, this.#lease)
    if (lease === 'theirs') {
      this.#holdsLease = false
      return false
    }
    if (this.#holdsLease && lease === 'mine') return true
    // Changes by the previous writer are judged like any others.
    this.#seen = new Map()
    this.#taken = new Map()
    this.#holdsLease = true
    this.#isNew = true
    // Other programs that replace files may be active already.
    if (this.#isLive) this.#enterCautiousMode()
    this.#markAllStale()
    const kept = new Set(this.#old.map(({ name }) => name))
    for (const { name, number } of clearStaging(this.#files))
      if (!kept.has(name)) this.#old.push({ name, number, known: undefined, until: 0 })
    return true
  }

  /** Compares all files, and reports again those that are left unchanged. */
  #markAllStale(): void {
    this.#setAsideMarks = new Map()
    this.#deferred = new Map()
    this.#allStale = true
  }

  async #addStale(tasks: ReadonlySet<string>): Promise<void> {
    if (tasks.size === 0) return
    for (const number of await affectedFiles(this.#host, this.#target, tasks)) {
      this.#stale.add(number)
      for (const other of this.#mentions.get(number) ?? []) this.#stale.add(other)
    }
  }

  // ── from the files to the board ──

  async #takeFiles(
    numbers: ReadonlySet<number> | undefined,
    report: MirrorReport,
    deferIncomplete: boolean,
  ): Promise<void> {
    const fresh: NewFile[] = []
    const refused: RefusedEdit[] = []
    const decide = !deferIncomplete || numbers === undefined
    let held = 0
    for (const number of numbers ?? this.#listed(report)) {
      const name = nameOf(number)
      const seen = this.#seen.get(number)
      const mark = this.#files.mark(name)
      if (mark !== undefined && (mark === seen?.mark || mark === this.#setAsideMarks.get(name))) continue
      const state = this.#files.read(name)
      this.#detectReplacement(number, mark)
      if (state.kind === 'none') this.#takeMissing(number, report, deferIncomplete, decide)
      else if (state.kind === 'other') this.#setAside(number, state.mark, state.why, report)
      else if (seen?.text === state.text) this.#recordSeen(number, state)
      else {
        const verdict = await this.#judgeText(number, state.text)
        if (verdict.kind === 'new') fresh.push(verdict.file)
        else if (verdict.kind === 'foreign') {
          if (verdict.holdsNumber && number <= maxNewNumber) held = number
          this.#deferUnreadable(number, state.mark, verdict.why, report, deferIncomplete, decide)
        } else if (verdict.kind === 'edit') await this.#takeEdit({ number, state, verdict }, refused, report)
        else this.#take(number, state, verdict, report)
      }
    }
    if (fresh.length > 0) await this.#import(fresh, report)
    if (held > 0) await skipNumbers(this.#host, this.#target.board, held)
    await this.#retryEdits(refused, report)
  }

  /** The numbers that have a file, or had one. */
  #listed(report: MirrorReport): number[] {
    const numbers = new Set(this.#seen.keys())
    for (const name of this.#files.list()) {
      const number = numberIn(name)
      if (number !== undefined) numbers.add(number)
      else if (isMisnamed(name) && !this.#setAsideMarks.has(name)) {
        this.#setAsideMarks.set(name, '')
        report.skipped.push({ file: name, why: 'it is not named like a task file: expected task_N.json with N from 1' })
      }
    }
    return [...numbers].sort((a, b) => a - b)
  }

  /** Detects that another program has replaced a file of this mirror. */
  #detectReplacement(number: number, mark: string | undefined): void {
    const own = this.#own.get(number)
    if (own === undefined || mark === undefined || inodeIn(mark) === own) return
    this.#own.delete(number)
    this.#enterCautiousMode()
  }

  #enterCautiousMode(): void {
    this.#cautiousUntil = this.#host.clock.now() + cautionMs
  }

  #judgeText(number: number, text: string): Promise<FileVerdict> {
    return judgeFile(this.#host, this.#target, this.#lease.dir, number, text, this.#taken.get(number))
  }

  /** Records the content of a file. A recent change may be followed by one with the same timestamps, so that file is read again. */
  #recordSeen(number: number, { text, mark, changedMs }: { text: string; mark: string; changedMs: number }): void {
    this.#setAsideMarks.delete(nameOf(number))
    this.#deferred.delete(number)
    const isRecent = Math.abs(this.#host.clock.now() - changedMs) < recentMs
    this.#seen.set(number, { text, mark: isRecent ? '' : mark })
  }

  #setAside(number: number, mark: string, why: string, report: MirrorReport): void {
    const name = nameOf(number)
    this.#seen.delete(number)
    this.#deferred.delete(number)
    this.#setAsideMarks.set(name, mark)
    report.skipped.push({ file: name, why })
  }

  #deferUnreadable(
    number: number,
    mark: string,
    why: string,
    report: MirrorReport,
    deferIncomplete: boolean,
    decide: boolean,
  ): void {
    // Until then the file is not overwritten either.
    this.#seen.delete(number)
    if (!deferIncomplete || (decide && this.#deferred.get(number) === mark)) this.#setAside(number, mark, why, report)
    else if (decide || !this.#deferred.has(number)) this.#deferred.set(number, mark)
  }

  #takeMissing(number: number, report: MirrorReport, deferIncomplete: boolean, decide: boolean): void {
    this.#stale.add(number)
    const wasAside = this.#setAsideMarks.delete(nameOf(number))
    if (wasAside || !this.#seen.has(number)) {
      this.#deferred.delete(number)
      return
    }
    if (deferIncomplete && !(decide && this.#deferred.get(number) === 'missing')) {
      this.#deferred.set(number, 'missing')
      return
    }
    this.#deferred.delete(number)
    this.#seen.delete(number)
    const why =
      'it was removed, but its task is still on the board: set status "deleted" in the file, or use board:delete'
    report.refused.push({ file: nameOf(number), why })
  }

  async #takeEdit(edit: Omit<RefusedEdit, 'why'>, refused: RefusedEdit[], report: MirrorReport): Promise<void> {
    const { number, state, verdict } = edit
    this.#stale.add(number)
    // Read again if the pass fails before the edit is decided.
    this.#seen.delete(number)
    const why = await this.#apply(number, verdict, report)
    if (why === undefined) this.#recordSeen(number, state)
    else refused.push({ ...edit, why })
  }

  /**
   * Tries refused edits again, as long as another one succeeds: one file may complete the blocker of the task that another one starts,
   * whichever is read first. Those that are left are refused.
   */
  async #retryEdits(refused: readonly RefusedEdit[], report: MirrorReport): Promise<void> {
    let left = [...refused]
    for (let before = Number.POSITIVE_INFINITY; left.length > 0 && left.length < before; ) {
      before = left.length
      const tried = left.reverse()
      left = []
      for (const edit of tried) await this.#takeEdit(edit, left, report)
    }
    for (const { number, state, why } of left.sort((a, b) => a.number - b.number)) {
      this.#recordSeen(number, state)
      this.#refuse(number, state.text, why, report)
    }
  }

  /** Acts on the verdict about a file that is not an edit. */
  #take(
    number: number,
    state: { text: string; mark: string; changedMs: number },
    verdict: Exclude<FileVerdict, { kind: 'new' | 'foreign' | 'edit' }>,
    report: MirrorReport,
  ): void {
    this.#recordSeen(number, state)
    this.#stale.add(number)
    if (verdict.kind === 'refused') this.#refuse(number, state.text, verdict.why, report)
    else if (verdict.kind === 'deleted') {
      if (!verdict.ours && !this.#refuse(number, state.text, verdict.why, report)) return
      this.#takeAway(number, state.text, report, verdict.ours)
    }
  }

  /** Returns why the board refuses the edit; undefined when it is applied. */
  async #apply(number: number, { edit, version }: EditVerdict, report: MirrorReport): Promise<string | undefined> {
    try {
      await this.#host.step(
        applyEdit(this.#target, edit, requestedBy(await this.#host.stepContext(), this.#target.caller)),
      )
    } catch (error) {
      if (!ErrandError.isInstance(error) || isLedgerUnavailable(error)) {
        // Not judged: the file is read again.
        this.#seen.delete(number)
        throw error
      }
      return error.message
    }
    this.#taken.set(number, { version, value: edit.edited })
    addOnce(report.imported, nameOf(number))
    return undefined
  }

  /** Refuses an edit and keeps a copy. Returns false when no copy can be kept; then the file stays as it is. */
  #refuse(number: number, text: string, why: string, report: MirrorReport): boolean {
    const file = nameOf(number)
    try {
      const copy = keepCopy(this.staging, number, text, versionOf(text))
      report.refused.push({ file, why, copy })
      return true
    } catch (error) {
      const kept = error instanceof Error ? error.message : String(error)
      this.#setAsideMarks.set(file, this.#files.mark(file) ?? '')
      report.refused.push({ file, why: `${why}. No copy could be kept, so the file stays as it is: ${kept}` })
      return false
    }
  }

  #takeAway(number: number, text: string, report: MirrorReport, ours: boolean): void {
    const name = nameOf(number)
    const taken = takeAway(this.staging, name, number, text)
    this.#seen.delete(number)
    if (taken.old !== undefined) this.#watchOld(taken.old, number, taken.kind === 'written' ? text : undefined)
    if (taken.kind === 'written' && ours) report.removed.push(name)
  }

  async #import(files: readonly NewFile[], report: MirrorReport): Promise<void> {
    const done = await importFiles(this.#host, this.#target, this.#lease.dir, files)
    const texts = new Map(files.map((file) => [file.number, file.text]))
    for (const number of done.numbers) {
      report.imported.push(nameOf(number))
      this.#setAsideMarks.delete(nameOf(number))
      this.#deferred.delete(number)
      this.#seen.set(number, { text: texts.get(number) as string, mark: '' })
    }
    for (const { number, key, why } of done.unheld) report.unheld.push({ file: nameOf(number), key, why })
    for (const { number, why } of done.refused) {
      const text = texts.get(number) as string
      if (this.#refuse(number, text, why, report)) this.#takeAway(number, text, report, false)
    }
    // The edges of the new tasks show in other files.
    this.#allStale = true
  }

  // ── old files ──

  #watchOld(name: string, number: number, known: string | undefined): void {
    this.#old.push({ name, number, known, until: this.#host.clock.now() + graceMs })
  }

  /** Checks the replaced files for content written through handles that were still open; such content is an edit. */
  async #takeOldFiles(report: MirrorReport): Promise<void> {
    const now = this.#host.clock.now()
    const left: OldFile[] = []
    for (const old of this.#old.splice(0)) {
      const state = this.#files.read(old.name, true)
      const isOver = now >= old.until
      if (state.kind === 'text' && state.text !== old.known) {
        if (!(await this.#takeOld(old, state.text, isOver, report))) {
          left.push(old)
          continue
        }
        old.known = state.text
      }
      if (isOver || state.kind === 'none') this.#files.remove(old.name)
      else left.push(old)
    }
    for (const old of left) this.#old.push(old)
  }

  /** Returns false when the old file cannot be read yet, because a program is still writing it. */
  async #takeOld({ number }: OldFile, text: string, isOver: boolean, report: MirrorReport): Promise<boolean> {
    const verdict = await this.#judgeText(number, text)
    if (verdict.kind === 'foreign' && !isOver) return false
    this.#stale.add(number)
    if (verdict.kind === 'edit') {
      const why = await this.#apply(number, verdict, report)
      if (why !== undefined) this.#refuse(number, text, why, report)
    } else if (verdict.kind === 'new') this.#refuse(number, text, 'it was replaced before it could be read', report)
    else if (verdict.kind !== 'ours' && !(verdict.kind === 'deleted' && verdict.ours))
      this.#refuse(number, text, verdict.why, report)
    return true
  }

  // ── from the board to the files ──

  /** Writes outdated files. Returns the numbers of files that changed meanwhile; undefined when another mirror has the lease. */
  async #writeFiles(report: MirrorReport): Promise<Set<number> | undefined> {
    const { dir } = this.#lease
    const stale = this.#allStale ? await allNumbers(this.#host, this.#target, dir) : [...this.#stale]
    // Files that are left unchanged keep their stored text as well: it is the base of the edit.
    const numbers = stale.filter((number) => !this.#setAsideMarks.has(nameOf(number)) && !this.#deferred.has(number))
    this.#allStale = false
    this.#stale.clear()
    const again = new Set<number>()
    const wanted = await ensureTexts(this.#host, this.#target, this.#lease, numbers)
    if (wanted === undefined) {
      this.#holdsLease = false
      this.#allStale = true
      return undefined
    }
    for (const each of wanted) if (!this.#write(each, report)) again.add(each.number)
    return again
  }

  #write({ number, text, mentions }: WantedFile, report: MirrorReport): boolean {
    const name = nameOf(number)
    const seen = this.#seen.get(number)
    for (const other of mentions) this.#mentions.set(other, (this.#mentions.get(other) ?? new Set()).add(number))
    // The file of a deleted task: judged like any file without a task.
    if (text === null) {
      if (seen !== undefined) this.#seen.set(number, { text: '', mark: '' })
      return seen === undefined || seen.text === ''
    }
    if (seen?.text === text) return true
    const mode: WriteMode = this.#host.clock.now() < this.#cautiousUntil ? 'move aside' : 'replace'
    const written = writeFile(this.staging, name, number, text, seen?.text ?? null, mode)
    if (written.old !== undefined) this.#watchOld(written.old, number, seen?.text)
    if (written.kind === 'changed') {
      this.#stale.add(number)
      return false
    }
    const own = inodeIn(this.#files.mark(name))
    if (own !== undefined) this.#own.set(number, own)
    // Read again at the next check: another program may have replaced it by then.
    this.#seen.set(number, { text, mark: '' })
    addOnce(report.written, name)
    return true
  }
}

/** Whether the ledger was unavailable, so that the edit was not judged. */
function isLedgerUnavailable({ code }: ErrandError): boolean {
  return (
    (code.startsWith('LEDGER_') && code !== 'LEDGER_WRITE_FAILED') ||
    code === 'ENGINE_CLOSED' ||
    code === 'OUTCOME_UNKNOWN'
  )
}

function versionOf(text: string): number {
  try {
    return versionIn(JSON.parse(text) as FileValue) ?? 0
  } catch {
    // The copy of an unreadable file has a name without a version.
    return 0
  }
}

function addOnce(list: string[], name: string): void {
  if (!list.includes(name)) list.push(name)
}
