"""Short sources in five languages."""

PYTHON = '''import os

def read_config(path: str) -> dict:
    """Return the parsed configuration of a file."""
    with open(path) as handle:
        for line in handle:
            key, value = line.split("=")
            settings[key] = value
    return settings
'''
RENAMED = '''import sys

def load_users(name: str) -> list:
    """Fetch everyone who signed up."""
    with connect(name) as base:
        for row in base:
            ident, mail = row.parse("x")
            table[ident] = mail
    return table
'''
JAVASCRIPT = """const express = require('express');
app.get('/users/:id', async (req, res) => {
  const user = await findUser(req.params.id);
  res.json({ name: user.fullName });
});
"""
GO = """package main

func (s *Server) Close() error {
	if err := s.db.Close(); err != nil {
		return err
	}
	return nil
}
"""
RUST = """pub fn parse(input: &str) -> Result<Vec<u32>, Error> {
    let mut out = Vec::new();
    for part in input.split(',') { out.push(part.parse()?); }
    Ok(out)
}
"""
CPP = """#include <vector>
template <typename T> T sum(const std::vector<T>& xs) {
  T total = 0;
  for (auto x : xs) total += x;
  return total;
}
"""
