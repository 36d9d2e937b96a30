//===- LineReader.cpp - Lines from a person or a pipe ---------------------===//
//
// Part of the Gist project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/gist-run/LineReader.h"

#include <clocale>
#include <cstdio>
#include <iostream>
#include <unistd.h>

#ifdef GIST_HAS_LIBEDIT
#include <histedit.h>
#endif

using namespace gist::run;

static constexpr char kPrompt[] = "> ";

#ifdef GIST_HAS_LIBEDIT
/// libedit, writing to standard error: standard output is only for answers.
struct LineReader::Editor {
  Editor() {
    // Without the user's locale letters beyond ASCII cannot be typed.
    std::setlocale(LC_CTYPE, "");
    edit = ::el_init("gist-run", stdin, stderr, stderr);
    lines = ::history_init();
    if (!isReady())
      return;
    HistEvent event;
    ::history(lines, &event, H_SETSIZE, 1000);
    ::el_set(edit, EL_HIST, ::history, lines);
    ::el_set(edit, EL_EDITOR, "emacs");
    // Control-C gives the terminal back as it was before it ends the program.
    ::el_set(edit, EL_SIGNAL, 1);
    ::el_set(
        edit, EL_PROMPT, +[](EditLine *) {
          static char prompt[sizeof kPrompt] = {kPrompt[0], kPrompt[1]};
          return prompt;
        });
  }
  ~Editor() {
    if (lines)
      ::history_end(lines);
    if (edit)
      ::el_end(edit);
  }
  Editor(const Editor &) = delete;
  Editor &operator=(const Editor &) = delete;

  bool isReady() const { return edit && lines; }

  bool read(std::string &line) {
    int count = 0;
    // Otherwise it draws the prompt first, and keys typed before that are
    // handled by the terminal driver, which supports fewer.
    ::el_set(edit, EL_PREP_TERM, 1);
    const char *typed = ::el_gets(edit, &count);
    if (!typed || count <= 0)
      return false;
    line.assign(typed, static_cast<size_t>(count));
    if (line.ends_with('\n'))
      line.pop_back();
    HistEvent event;
    if (!line.empty())
      ::history(lines, &event, H_ENTER, line.c_str());
    return true;
  }

  EditLine *edit = nullptr;
  History *lines = nullptr;
};
#else
struct LineReader::Editor {
  bool isReady() const { return false; }
  bool read(std::string &) { return false; }
};
#endif

LineReader::LineReader() : interactive(::isatty(STDIN_FILENO) != 0) {
  if (!interactive || ::isatty(STDERR_FILENO) == 0)
    return;
  editor = std::make_unique<Editor>();
  if (!editor->isReady())
    editor = nullptr;
}

LineReader::~LineReader() = default;

bool LineReader::read(std::string &line) {
  if (editor)
    return editor->read(line);
  if (interactive)
    std::fputs(kPrompt, stderr);
  return static_cast<bool>(std::getline(std::cin, line));
}
